import { expect, test } from "bun:test";
import { daemonEnv } from "../../../src/config/daemon-env.ts";
import { daemonEnvRule } from "./daemon-env.ts";
import { problemsIn } from "../planted.ts";

const listed = Object.entries(daemonEnv)
  .map(([name, value]) => `            - name: ${name}\n              value: "${value}"\n`)
  .join("");
const inStep = { "deploy/base/daemon.yaml": `env:\n${listed}`, "deploy/base/hand.yaml": "env: []\n" };

test("daemonEnvRule accepts files that agree with the code, and files that set nothing", async () => {
  expect(await problemsIn(daemonEnvRule, inStep)).toEqual([]);
});

test("daemonEnvRule finds a variable that is missing, has another value, or that the code does not know", async () => {
  const problems = await problemsIn(daemonEnvRule, {
    ...inStep,
    "deploy/base/daemon.yaml": `env:\n${listed.replace("BUN_GC_TIMER_DISABLE", "BUN_GC_TIMER")}`,
    "deploy/guard/deployment.yaml": `env:\n${listed}`.replace('value: "0"', 'value: "1"'),
    "deploy/overlays/x/patch.yaml": `env:\n  - name: BUN_JSC_useJIT\n    value: "0"\n`,
  });
  expect(problems).toContain("deploy/base/daemon.yaml:0 BUN_GC_TIMER_DISABLE is not set to 1");
  expect(problems).toContain("deploy/base/daemon.yaml:6 BUN_GC_TIMER is set to 1");
  expect(problems).toContain("deploy/guard/deployment.yaml:2 BUN_JSC_useJIT is set to 1");
  expect(problems).toContain("deploy/overlays/x/patch.yaml:0 BUN_GC_TIMER_DISABLE is not set to 1");
});
