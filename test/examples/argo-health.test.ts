/** The health check of NetworkReadiness that Argo CD runs, in Debian's Lua 5.1, of which Argo CD's engine is a dialect. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { judgeReadiness } from "../../src/guard/readiness/judge-readiness.ts";
import { renewedStatus, type ReadinessStatus } from "../../src/guard/readiness/readiness-object.ts";

const settings = join(import.meta.dir, "../../deploy/gitops/argocd/argocd-cm.yaml");
const key = "resource.customizations.health.levee.dev_NetworkReadiness";
const script = (parse(readFileSync(settings, "utf8")) as { data: Record<string, string> }).data[key] ?? "";

/** Argo CD has no string library there, and `os` only by require: with `os` and `string` gone the check must still run. */
function health(object: unknown): { readonly status: string; readonly message: string } {
  const program = `
    obj = ${lua(object)}
    local format, write = string.format, io.write
    string, os, io, math = nil, nil, nil, nil
    local result = (function() ${script} end)()
    write(format("%s\\n%s", result.status, result.message))`;
  const { stdout, stderr, status } = spawnSync("lua5.1", ["-"], { input: program, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const [word = "", ...message] = stdout.split("\n");
  return { status: word, message: message.join("\n") };
}

/** JSON as a Lua expression. */
function lua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(lua).join(",")}}`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([name, member]) => `[${JSON.stringify(name)}]=${lua(member)}`)
      .join(",")}}`;
  return JSON.stringify(value);
}

function statusAt(nowMs: number, state: "ready" | "not-ready"): ReadinessStatus {
  const word = { network: "shop/lan", state, reasons: ["missing host bridge br-prod"], mark: "m" };
  const verdict = judgeReadiness({ mark: "m", nodes: [{ name: "worker-1" }], wordOf: () => word });
  const status = renewedStatus({ status: undefined, generation: 2 }, verdict, nowMs);
  if (status === undefined) throw new Error("There is no status");
  return status;
}

const metadata = { name: "lan", namespace: "shop", generation: 2 };

test("is Healthy only while a fresh verdict about this version says that the network is ready", () => {
  const nowMs = Date.now();
  expect(health({ metadata, status: statusAt(nowMs, "ready") })).toEqual({
    status: "Healthy",
    message: "ready on 1 of 1 nodes",
  });
  expect(health({ metadata, status: statusAt(nowMs, "not-ready") })).toEqual({
    status: "Progressing",
    message: "ready on 0 of 1 nodes; worker-1: missing host bridge br-prod",
  });
});

test("waits without a status, with one about an older version, and with one that has expired", () => {
  const nowMs = Date.now();
  expect(health({ metadata }).status).toBe("Progressing");
  expect(health({ metadata, status: {} }).status).toBe("Progressing");
  expect(health({ metadata: { ...metadata, generation: 3 }, status: statusAt(nowMs, "ready") })).toEqual({
    status: "Progressing",
    message: "The guard has not looked at this version yet",
  });
  const expired = health({ metadata, status: statusAt(nowMs - 301_000, "ready") });
  expect(expired.status).toBe("Progressing");
  expect(expired.message).toStartWith("The guard has not looked since 20");
});
