import { expect, test } from "bun:test";
import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { daemonEnvRule } from "./daemon-env.ts";
import { problemsIn } from "../planted.ts";

const listed = Object.entries(daemonEnv)
  .map(([name, value]) => `            - name: ${name}\n              value: "${value}"\n`)
  .join("");
const assigned = Object.entries(daemonEnv)
  .map((pair) => pair.join("="))
  .join(" ");
const inStep = {
  "deploy/image/Containerfile": `ENV ${assigned}\n`,
  "deploy/image/guard/Containerfile": `ENV ${assigned}\n`,
};

test("daemonEnvRule accepts files that agree with the code", async () => {
  expect(await problemsIn(daemonEnvRule, inStep)).toEqual([]);
});

test("daemonEnvRule finds a variable that is missing, has another value, or that the code does not know", async () => {
  const problems = await problemsIn(daemonEnvRule, {
    ...inStep,
    "deploy/base/daemon.yaml": `env:\n${listed.replace("BUN_GC_TIMER_DISABLE", "BUN_GC_TIMER")}`,
    "deploy/image/Containerfile": inStep["deploy/image/Containerfile"].replace("useJIT=0", "useJIT=1"),
    "deploy/overlays/x/patch.yaml": `env:\n  - name: BUN_JSC_useJIT\n    value: "0"\n`,
  });
  expect(problems).toContain("deploy/base/daemon.yaml:0 BUN_GC_TIMER_DISABLE is not set to 1");
  expect(problems).toContain("deploy/base/daemon.yaml:6 BUN_GC_TIMER is set to 1");
  expect(problems).toContain("deploy/image/Containerfile:1 BUN_JSC_useJIT is set to 1");
  expect(problems).toContain("deploy/overlays/x/patch.yaml:0 BUN_GC_TIMER_DISABLE is not set to 1");
});

test("daemonEnvRule requires the variables in both images", async () => {
  const problems = await problemsIn(daemonEnvRule, { ...inStep, "deploy/image/Containerfile": "FROM scratch\n" });
  expect(problems).toHaveLength(Object.keys(daemonEnv).length);
});
