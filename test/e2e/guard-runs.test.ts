/** `levee guard` itself, with the rights and policies as shipped, on a real API server: two processes, a person, a kill. */
import { expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDecision } from "../../src/guard/decision/parse-decision.ts";
import type { Decision, Verdict } from "../../src/guard/decision/decision.ts";
import { freePort } from "../lab/free-port.ts";
import { alice, approvals, makePod, startGuardServer } from "./guard/guard-server.ts";
import { type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterEach, afterAll } = needsServer("guard-runs");

const program = join(import.meta.dir, "../../src/main.ts");
const podCount = 20;
const namespace = "fc-desktop";

let server: PolicyServer;
let folder: string;
const guards: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-guard-"));
  server = await startGuardServer();
  server.must(["create", "namespace", namespace]);
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
  const config = {
    "current-context": "g",
    "contexts": [{ name: "g", context: { cluster: "g", user: "g" } }],
    "clusters": [{ name: "g", cluster: { "server": server.url, "insecure-skip-tls-verify": true } }],
    "users": [{ name: "g", user: { token } }],
  };
  await writeFile(join(folder, "kubeconfig"), JSON.stringify(config), { mode: 0o600 });
}, 180_000);

afterEach((): void => {
  for (const guard of guards.splice(0)) guard.kill("SIGKILL");
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(...more: readonly string[]): ChildProcess {
  const args = [program, "guard", "--kubeconfig", join(folder, "kubeconfig"), ...more];
  const guard = spawn(process.execPath, args, {
    stdio: ["ignore", "ignore", "inherit"],
    env: { PATH: process.env["PATH"] ?? "" },
  });
  guards.push(guard);
  return guard;
}

/** A pod that was bound ten minutes ago, as its own condition says. */
async function stuckPod(index: number): Promise<void> {
  const lastTransitionTime = new Date(Date.now() - 600_000).toISOString();
  const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime }];
  await makePod(server, { name: `rd-${index}`, namespace, node: "n1" }, { phase: "Pending", conditions });
}

function found(): readonly Decision[] {
  const list = JSON.parse(server.must(["-n", "levee-system", "get", "decisions", "-o", "json"])) as {
    items: unknown[];
  };
  return list.items.map(parseDecision).filter((decision) => decision !== undefined);
}

function phases(): string {
  return found()
    .map(({ metadata, status }) => `${metadata.name}=${status?.phase ?? ""}`)
    .toSorted()
    .join(" ");
}

function holder(): string {
  const path = "jsonpath={.spec.holderIdentity}";
  return server.kubectl(["-n", "levee-system", "get", "lease", "levee-guard", "-o", path]).stdout;
}

async function say(decision: string, verdict: Verdict): Promise<void> {
  const { metadata, spec } = found().find((one) => one.metadata.name === decision)!;
  const body = {
    apiVersion: "levee.dev/v1alpha1",
    kind: "DecisionApproval",
    metadata: { name: `${verdict.toLowerCase()}-${decision}`, namespace: "levee-system" },
    spec: { decision, decisionUID: metadata.uid, planHash: spec.planHash, verdict, by: { username: alice.user } },
  };
  const answer = await server.ask({ method: "POST", path: approvals, body, as: alice });
  if (answer.code !== 201) throw new Error(answer.text);
}

group("levee guard on a real API server", () => {
  test("nineteen pods are nothing, the twentieth is named within a minute, a person's word counts, and a successor takes over within 20 s", async () => {
    const first = start();
    for (let index = 0; index < podCount - 1; index += 1) await stuckPod(index);
    await until("the guard leads", () => holder() || undefined);
    // Two looks.
    await pause(21_000);
    expect(phases()).toBe("");
    const twentiethMs = performance.now();
    await stuckPod(podCount - 1);
    await until("both Decisions wait for a person", () =>
      phases() === `recover-${namespace}-1=Proposed stop-${namespace}-1=Proposed` ? true : undefined,
    );
    expect(performance.now() - twentiethMs).toBeLessThan(60_000);

    await say(`stop-${namespace}-1`, "Approve");
    await say(`recover-${namespace}-1`, "Reject");
    const answered = `recover-${namespace}-1=Rejected stop-${namespace}-1=Succeeded`;
    await until("the answers count", () => (phases() === answered ? true : undefined), { timeoutMs: 90_000 });
    const stop = found().find(({ metadata }) => metadata.name === `stop-${namespace}-1`);
    expect(stop?.status).toMatchObject({ approval: { by: "alice" }, fence: 1, step: "1/1 StopSource" });
    const label = "jsonpath={.metadata.labels.levee\\.dev/ownerless-pods}";
    expect(server.must(["get", "namespace", namespace, "-o", label])).toBe("deny");
    // What was not approved is not done.
    expect(server.must(["-n", namespace, "get", "pods", "-o", "name"]).trim().split("\n").length).toBe(podCount);

    const port = await freePort();
    start("--metrics-port", String(port));
    // It needs the view before it is of use; a kill in its first second would measure that.
    await until("the second guard has the view", async () =>
      (await fetch(`http://127.0.0.1:${port}/readyz`)).ok ? true : undefined,
    );
    const before = holder();
    first.kill("SIGKILL");
    const killedMs = performance.now();
    await until("another leads", () => (holder() === before ? undefined : true), { timeoutMs: 30_000 });
    expect(performance.now() - killedMs).toBeLessThan(20_000);
    // The same questions are not asked again.
    await pause(11_000);
    expect(phases()).toBe(answered);
  }, 300_000);

  test("it lets the lease go when it is told to end", async () => {
    const before = holder();
    const guard = start();
    await until("it leads", () => ([before, ""].includes(holder()) ? undefined : true));
    const ended = new Promise((resolve) => guard.once("exit", resolve));
    guard.kill("SIGTERM");
    await ended;
    expect(holder()).toBe("");
  }, 120_000);
});
