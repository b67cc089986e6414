/** What the guard hears besides the API server: a real Alertmanager and the real daemon of a node, and one of them silent. */
import { expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { parseDecision } from "../../src/guard/decision/parse-decision.ts";
import type { DecisionSpec } from "../../src/guard/decision/decision.ts";
import { Alertmanager } from "../alerts/alertmanager.ts";
import { freePort } from "../lab/free-port.ts";
import { Lab } from "../lab/lab.ts";
import { makePod, startGuardServer } from "./guard/guard-server.ts";
import { mergePatch, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";
import { pause, until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("guard-sources");
const program = join(import.meta.dir, "../../src/main.ts");
const node = "n1";

let server: PolicyServer;
let lab: Lab;
let alertmanager: Alertmanager;
let guard: ChildProcess | undefined;
let metricsPort: number;

beforeAll(async () => {
  server = await startGuardServer();
  alertmanager = await Alertmanager.start({ route: { receiver: "nobody" }, receivers: [{ name: "nobody" }] });
  const daemonPort = await freePort();
  lab = await Lab.make();
  await lab.configure({ metricsPort: daemonPort, logLevel: "info" });
  await lab.startDaemon();
  for (const namespace of ["one", "two"]) server.must(["create", "namespace", namespace]);
  await makeNode();
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "levee", uid: "u", controller: true };
  await makePod(
    server,
    { name: "levee-abcde", namespace: "levee-system", node, owners: [owner] },
    { phase: "Running" },
  );
  metricsPort = await freePort();
  const ports = ["--daemon-port", String(daemonPort), "--metrics-port", String(metricsPort)];
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
  const login = await server.kubeconfig(token);
  const where = ["--kubeconfig", login, "--cluster", "prod", "--alertmanager", alertmanager.url];
  guard = spawn(process.execPath, [program, "guard", ...where, ...ports], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { PATH: process.env["PATH"] ?? "" },
  });
}, 180_000);

afterAll(async () => {
  guard?.kill("SIGKILL");
  await alertmanager.end();
  await lab[Symbol.asyncDispose]();
  await server.stop();
});

/** Its daemon is on this machine. */
async function makeNode(): Promise<void> {
  const body = { apiVersion: "v1", kind: "Node", metadata: { name: node } };
  await server.ask({ method: "POST", path: "/api/v1/nodes", body });
  const status = { addresses: [{ type: "InternalIP", address: "127.0.0.1" }] };
  const path = `/api/v1/nodes/${node}/status`;
  const set = await server.ask({ method: "PATCH", path, type: mergePatch, body: { status } });
  if (set.code !== 200) throw new Error(set.text);
}

async function stuckPods(namespace: string, from: number, to: number): Promise<void> {
  const lastTransitionTime = new Date(Date.now() - 600_000).toISOString();
  const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime }];
  for (let index = from; index < to; index += 1)
    await makePod(server, { name: `rd-${index}`, namespace, node }, { phase: "Pending", conditions });
}

async function untilMetric(line: string): Promise<void> {
  await until(`the guard tells ${line}`, async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return text.includes(`${line}\n`) ? true : undefined;
  });
}

async function proposed(name: string): Promise<DecisionSpec> {
  const decision = await until(`${name} is proposed`, () => {
    const end = server.kubectl(["-n", "levee-system", "get", "decision", name, "-o", "json"]);
    return end.status === 0 ? parseDecision(JSON.parse(end.stdout)) : undefined;
  });
  return decision.spec;
}

group("what the guard hears from others", () => {
  test("alerts of this cluster are linked or counted, and what the node's daemon says of itself is evidence", async () => {
    await untilMetric("levee_guard_node_views 1");
    await stuckPods("one", 0, 19);
    await alertmanager.post([
      { alertname: "NamespacePendingPodBacklog", severity: "warning", cluster: "prod", namespace: "one" },
      { alertname: "TargetDown", cluster: "prod", namespace: "shop" },
      { alertname: "NamespacePendingPodBacklog", severity: "warning", cluster: "test", namespace: "one" },
    ]);
    await untilMetric("levee_guard_alerts_seen 2");
    await stuckPods("one", 19, 20);
    const { chain, evidence, notes } = await proposed("recover-one-1");
    expect(chain).toMatchObject([{ rule: "AlertOfNamespace", effect: "alert NamespacePendingPodBacklog" }]);
    expect(evidence.find(({ fact }) => fact === "alerts that this cause does not explain")?.value).toBe(1);
    const waiting = evidence.find(({ fact }) => fact === "calls waiting in a node's daemon");
    expect(waiting).toMatchObject({ value: 0, detail: expect.stringMatching(/^n1/u) as string });
    expect(notes.join("\n")).not.toMatch(/Alerts were last read|daemons do not answer/u);
  }, 180_000);

  test("with Alertmanager and daemon gone it proposes all the same, and says that it does not hear them", async () => {
    await alertmanager.end();
    await lab.killDaemon();
    // A look each half minute at the one, each minute at the other.
    await pause(65_000);
    await stuckPods("two", 0, 20);
    const { chain, notes } = await proposed("recover-two-1");
    expect(chain).toEqual([]);
    expect(notes.find((note) => note.startsWith("Alerts were last read"))).toContain(alertmanager.url);
    expect(notes).toContain("1 of 1 nodes' daemons do not answer");
  }, 180_000);
});
