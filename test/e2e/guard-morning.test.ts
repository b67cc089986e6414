/** Three in the morning with our commands alone: a real guard on a real API server, a person who looks, approves and reports. */
import { expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { makePod, startGuardServer, untilPoliciesCount } from "./guard/guard-server.ts";
import { personTokens, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("guard-morning");

const program = join(import.meta.dir, "../../src/main.ts");
const namespace = "fc-desktop";
const stop = `stop-${namespace}-1`;

interface End {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

let server: PolicyServer;
let guard: ChildProcess | undefined;
let alice = "";
let admin = "";

beforeAll(async () => {
  server = await startGuardServer();
  await untilPoliciesCount(server);
  server.must(["create", "namespace", namespace]);
  alice = await server.kubeconfig(personTokens.alice);
  admin = await server.kubeconfig();
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
  const kubeconfig = await server.kubeconfig(token);
  const args = [program, "guard", "--kubeconfig", kubeconfig];
  guard = spawn(process.execPath, args, { stdio: "ignore", env: { PATH: process.env["PATH"] ?? "" } });
  for (let index = 0; index < 20; index += 1) await stuckPod(index);
}, 180_000);

afterAll(async () => {
  guard?.kill("SIGKILL");
  await server.stop();
});

/** Bound ten minutes ago, by its own condition. */
async function stuckPod(index: number): Promise<void> {
  const lastTransitionTime = new Date(Date.now() - 600_000).toISOString();
  const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime }];
  await makePod(server, { name: `rd-${index}`, namespace, node: "n1" }, { phase: "Pending", conditions });
}

function levee(login: string, ...argv: readonly string[]): Promise<End> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env["PATH"] ?? "" };
    const child = spawn(process.execPath, [program, ...argv, "--kubeconfig", login], {
      stdio: ["ignore", "pipe", "pipe"],
      env,
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, out, err }));
  });
}

async function listed(name: string): Promise<void> {
  const isListed = new RegExp(`^${name} .*Proposed`, "mu");
  const look = async (): Promise<true | undefined> =>
    isListed.test((await levee(alice, "decisions", "list")).out) || undefined;
  await until(`${name} is proposed`, look, { timeoutMs: 120_000, everyMs: 1_000 });
}

group("levee at three in the morning", () => {
  test("the cause is on one screen, the plan is approved by its hash and followed to its end, and the report tells it", async () => {
    await listed(stop);
    const screen = await levee(admin, "status");
    expect(screen.out).toMatch(/^Guard +\S+ 0 of 2 replicas, \S+ leads \(term \d+\)$/mu);
    expect(screen.out).toContain(`${stop} Proposed`);
    expect(screen.out).toContain(`${namespace}: an avalanche of 20 ownerless pods on 1 node`);

    const shown = await levee(alice, "decisions", "show", stop);
    const hash = /^Plan (sha256:[0-9a-f]{64}) \(verified here\)$/mu.exec(shown.out)?.[1] ?? "";
    expect(shown.out).toContain(`$ kubectl label --overwrite namespace ${namespace} levee.dev/ownerless-pods=deny`);
    const done = await levee(alice, "decisions", "approve", stop, "--plan-hash", hash, "--wait", "--timeout", "4m");
    expect(`${done.status} ${done.err}`).toStartWith("0 ");
    expect(done.err).toContain("step 1 Done, dry run passed, checked");
    expect(done.err).toMatch(/ {2}Succeeded: /u);
    expect(
      server.must(["get", "namespace", namespace, "-o", "jsonpath={.metadata.labels.levee\\.dev/ownerless-pods}"]),
    ).toBe("deny");

    const report = await levee(alice, "report", stop);
    expect(report.out).toContain("alice said Approve");
    expect(report.out).toContain("### 1. StopSource");
    expect(report.out).toContain("Its check passed");
    const stored = server.must(["-n", "levee-system", "get", "decision,decisionapproval", "-o", "json"]);
    const known = new Set(stored.match(/\d+/gu));
    expect([...new Set(report.out.match(/\d+/gu))].filter((number) => !known.has(number))).toEqual([]);
    // A Decision that has ended takes no more verdicts.
    expect((await levee(alice, "decisions", "pause", stop)).status).toBe(4);
  }, 420_000);
});
