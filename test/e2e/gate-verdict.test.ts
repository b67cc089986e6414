/** The guard's side of the reboot gate on a real API server, with a real Alertmanager: the night of 30 May, and people's words. */
import { expect, test } from "bun:test";
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { parseRebootGate, type RebootGate } from "../../src/wire/reboot-gate.ts";
import { standingVerdict } from "../../src/wire/standing-verdict.ts";
import { Alertmanager } from "../alerts/alertmanager.ts";
import { freePort } from "../lab/free-port.ts";
import { doorOf, startGateCluster } from "./gate/gate-cluster.ts";
import { StandInDaemons } from "./gate/stand-in-daemons.ts";
import { approvals, guardUser, untilPoliciesCount } from "./guard/guard-server.ts";
import { mergePatch, personTokens, type Answer, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("gate-verdict");
const program = join(import.meta.dir, "../../src/main.ts");
const ours = "/apis/levee.dev/v1alpha1";
const exceptions = `${ours}/namespaces/levee-system/rebootexceptions`;
const markedMs = Date.now() - 7 * 60_000;

const alerts = [
  { alertname: "PVCStuckPending", namespace: "hermes", persistentvolumeclaim: "hermes-agent-data" },
  { alertname: "ExternalAccessDivergence", target: "hermes.example" },
  { alertname: "NodeFilesystemFull", mountpoint: "/mnt/synology-backup", instance: "k8s-node1:9100" },
];
const nodeDisk = { alertname: "NodeFilesystemFull", mountpoint: "/", instance: "k8s-node1:9100" };

let server: PolicyServer;
let daemons: StandInDaemons;
let alertmanager: Alertmanager;
let guard: ChildProcess | undefined;
let metricsPort: number;

beforeAll(async () => {
  server = await startGateCluster(["k8s-master", "k8s-node1"]);
  server.must(["create", "clusterrolebinding", "sre", "--clusterrole=levee-approver", "--group=sre"]);
  server.must(["label", "node", "k8s-master", "node-role.kubernetes.io/control-plane="]);
  const status = { addresses: [{ type: "InternalIP", address: "127.0.0.2" }] };
  await server.ask({ method: "PATCH", path: "/api/v1/nodes/k8s-node1/status", type: mergePatch, body: { status } });
  alertmanager = await Alertmanager.start({ route: { receiver: "nobody" }, receivers: [{ name: "nobody" }] });
  await alertmanager.post(alerts);
  daemons = await StandInDaemons.start();
  daemons.marks.set("127.0.0.1", markedMs);
  metricsPort = await freePort();
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
  const login = await server.kubeconfig(token);
  const places = ["--daemon-port", String(daemons.port), "--metrics-port", String(metricsPort)];
  giveDoorRights();
  const doors = ["label", "http", "annotation", "lease"].flatMap((door) => ["--gate-door", door]);
  const gate = [...doors, "--gate-expiry", "30"];
  const where = ["--kubeconfig", login, "--alertmanager", alertmanager.url];
  startGuard([...where, ...places, ...gate]);
  await untilPoliciesCount(server);
}, 180_000);

/** The lines of docs/gate.md. */
function giveDoorRights(): void {
  const account = "--serviceaccount=levee-system:levee-guard";
  server.must(["create", "namespace", "medik8s-leases"]);
  server.must(["create", "clusterrole", "levee-guard-annotates", "--verb=patch", "--resource=nodes"]);
  server.must([
    "create",
    "clusterrolebinding",
    "levee-guard-annotates",
    "--clusterrole=levee-guard-annotates",
    account,
  ]);
  const verbs = ["--verb=get,create,update,delete", "--resource=leases.coordination.k8s.io"];
  server.must(["-n", "medik8s-leases", "create", "role", "levee-guard-gate", ...verbs]);
  server.must([
    "-n",
    "medik8s-leases",
    "create",
    "rolebinding",
    "levee-guard-gate",
    "--role=levee-guard-gate",
    account,
  ]);
}

/** The guard's account on pods without the label. Its own guard may be faster; then deny is there already. */
async function putsBackAndNeverOpens(): Promise<void> {
  server.must(["-n", "levee-system", "create", "serviceaccount", "other"]);
  const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "levee", uid: "u", controller: true };
  const make = (name: string, serviceAccountName: string): void => {
    const metadata = { name, namespace: "levee-system", ownerReferences: [owner] };
    const spec = { serviceAccountName, containers: [{ name: "main", image: "example.com/none" }] };
    server.must(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec }));
  };
  const write = async (name: string, value: string): Promise<number> => {
    const path = `/api/v1/namespaces/levee-system/pods/${name}`;
    const body = { metadata: { labels: { "levee.dev/reboot": value } } };
    return (await server.ask({ method: "PATCH", path, type: mergePatch, body, as: { user: guardUser } })).code;
  };
  make("bare-of-another", "other");
  expect([await write("bare-of-another", "allow"), await write("bare-of-another", "deny")]).toEqual([403, 403]);
  make("bare", "levee");
  expect([await write("bare", "allow"), await write("bare", "deny")]).toEqual([403, 200]);
  server.must(["-n", "levee-system", "delete", "pod", "bare", "bare-of-another", "--grace-period=0", "--force"]);
}

function annotation(): string {
  return server.must(["get", "node", "k8s-master", "-o", "jsonpath={.metadata.annotations.levee\\.dev/reboot-gate}"]);
}

function leaseHolder(): string {
  const { status, stdout } = server.kubectl([
    ...["-n", "medik8s-leases", "get", "lease", "node-k8s-master", "-o", "jsonpath={.spec.holderIdentity}"],
  ]);
  return status === 0 ? stdout : "nobody";
}

/** Starts it again when it ends, as its Deployment does: it may lose its lease to a slow API server. */
function startGuard(args: readonly string[]): void {
  const child = spawn(process.execPath, [program, "guard", ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { PATH: process.env["PATH"] ?? "" },
  });
  guard = child;
  child.on("exit", (_code, signal) => {
    if (signal !== "SIGKILL") startGuard(args);
  });
}

afterAll(async () => {
  guard?.kill("SIGKILL");
  daemons[Symbol.dispose]();
  await alertmanager.end();
  await server.stop();
});

async function gateOf(node: string): Promise<RebootGate | undefined> {
  const { code, text } = await server.ask({ method: "GET", path: `${ours}/rebootgates/${node}` });
  return code === 200 ? parseRebootGate(JSON.parse(text)) : undefined;
}

async function untilGate(what: string, isSo: (gate: RebootGate) => boolean): Promise<RebootGate> {
  const found = await until(what, async () => {
    const gate = await gateOf("k8s-master");
    return gate !== undefined && isSo(gate) ? gate : undefined;
  });
  return found;
}

function alertsIn({ reasons }: RebootGate): readonly string[] {
  return reasons.filter(({ code }) => code === "FiringAlert").map(({ message }) => message.split(" ")[2] ?? "");
}

async function exception(match: object, changes: object = {}, token: string = personTokens.alice): Promise<Answer> {
  const until90 = new Date(Date.now() + 7 * 86_400_000).toISOString();
  const spec = { match, reason: "the NAS is pruned", until: until90, by: { username: "alice" }, ...changes };
  const metadata = { generateName: "offsite-" };
  const body = { apiVersion: "levee.dev/v1alpha1", kind: "RebootException", metadata, spec };
  return server.ask({ method: "POST", path: exceptions, body, token });
}

async function override(changes: object = {}, token: string = personTokens.alice): Promise<Answer> {
  const gate = { node: "k8s-master", until: new Date(Date.now() + 1_800_000).toISOString() };
  const spec = { verdict: "Allow", gate, reason: "kernel", by: { username: "alice" }, ...changes };
  const body = {
    apiVersion: "levee.dev/v1alpha1",
    kind: "DecisionApproval",
    metadata: { generateName: "allow-" },
    spec,
  };
  return server.ask({ method: "POST", path: approvals, body, token });
}

function expectRefused({ code, text }: Answer, words: string): void {
  expect(code).toBeGreaterThanOrEqual(400);
  expect(text).toContain(words);
}

group("the reboot gate", () => {
  test("names all three alerts of that night, and how to clear each; the door stays closed", async () => {
    const gate = await untilGate("three alerts hold the master", (one) => alertsIn(one).length === 3);
    expect(gate).toMatchObject({ verdict: "Deny", rebootRequiredSinceMs: Math.floor(markedMs / 1_000) * 1_000 });
    expect(alertsIn(gate).toSorted()).toEqual(["ExternalAccessDivergence", "NodeFilesystemFull", "PVCStuckPending"]);
    for (const { remedy } of gate.reasons) expect(remedy).toContain("levee gate except 'alertname=");
    expect(await gateOf("k8s-node1")).toBeUndefined();
    expect(doorOf(server, "k8s-master")).toBe("deny");
    await until("the node says deny", () => annotation() === "deny FiringAlert ×3" || undefined);
    await until("the lease is held", () => leaseHolder() === "levee-guard" || undefined);
    expect(server.must(["get", "rg"])).toMatch(/k8s-master +Deny +7m.* +FiringAlert ×3 +20/u);
    const asked = await fetch(`http://127.0.0.1:${metricsPort}/gate/k8s-master`);
    expect([asked.status, ((await asked.json()) as { reasons: unknown[] }).reasons.length]).toEqual([409, 3]); // our own JSON
  }, 120_000);

  test("takes an exception by label from a person, with a reason and an end, and refuses any other", async () => {
    const offsite = { alertname: "NodeFilesystemFull", mountpoint: "/mnt/synology-backup" };
    expect((await exception(offsite)).code).toBe(201);
    const refused = [
      [await exception(offsite, { by: { username: "bob" } }), "spec.by.username must be alice"],
      [await exception({}), "spec.match"],
      [await exception({ mountpoint: "" }), "spec.match.mountpoint"],
      [await exception(offsite, { reason: "" }), "spec.reason"],
      [await exception(offsite, { until: "2026-01-01T00:00:00Z" }), "is over"],
      [await exception(offsite, { until: "2099-01-01T00:00:00Z" }), "90 days at most"],
      [await exception(offsite, { until: "soon" }), "spec.until"],
      [await exception(offsite, {}, personTokens.carol), "cannot create resource"],
    ] as const;
    for (const [answer, words] of refused) expectRefused(answer, words);
    const gate = await untilGate("two alerts are left", (one) => alertsIn(one).length === 2);
    expect(alertsIn(gate)).not.toContain("NodeFilesystemFull");
    expect(gate.exceptions).toMatchObject([{ by: "alice", reason: "the NAS is pruned" }]);
    await alertmanager.post([nodeDisk]);
    await untilGate("a full disk of a node still holds it", (one) => alertsIn(one).includes("NodeFilesystemFull"));
  }, 180_000);

  test("opens for a person's word, and closes when it is withdrawn", async () => {
    const guarded = [
      [await override({}, personTokens.carol), "cannot create resource"],
      [await override({ by: { username: "bob" } }), "spec.by.username must be alice"],
      [await override({ reason: " " }), "with a reason"],
      [await override({ decision: "d" }), "names no Decision"],
      [await override({ gate: { node: "k8s-master", until: "2099-01-01T00:00:00Z" } }), "within the next four hours"],
    ] as const;
    for (const [answer, words] of guarded) expectRefused(answer, words);
    const own = { apiVersion: "levee.dev/v1alpha1", kind: "DecisionApproval", metadata: { generateName: "a-" } };
    const spec = { verdict: "Allow", reason: "r", by: { username: guardUser } };
    const gate = { node: "k8s-master", until: new Date(Date.now() + 60_000).toISOString() };
    const byGuard = await server.ask({
      method: "POST",
      path: approvals,
      body: { ...own, spec: { ...spec, gate } },
      as: { user: guardUser },
    });
    expect(byGuard.code).toBe(403);

    const made = await override();
    expect(made.code).toBe(201);
    const { name } = (JSON.parse(made.text) as { metadata: { name: string } }).metadata; // what the API server prints
    const open = await untilGate("alice's word counts", ({ verdict }) => verdict === "Allow");
    expect(open).toMatchObject({ override: { by: "alice", reason: "kernel", name } });
    expect(open.reasons.length).toBeGreaterThan(0);
    await until("both labels say allow", () => doorOf(server, "k8s-master") === "allow" || undefined);
    expect(doorOf(server, "k8s-node1")).toBe("deny");
    await until("the node says allow", () => /^allow until 20.*Z$/u.test(annotation()) || undefined);
    await until("the lease is given back", () => leaseHolder() === "nobody" || undefined);
    expect((await fetch(`http://127.0.0.1:${metricsPort}/gate/k8s-master`)).status).toBe(200);
    server.must(["-n", "levee-system", "delete", "decisionapproval", name]);
    await untilGate("the gate is closed", ({ verdict }) => verdict === "Deny");
    await until("both labels say deny", () => doorOf(server, "k8s-master") === "deny" || undefined);
  }, 180_000);
});

group("the reboot gate and its writer", () => {
  test("is written by the guard alone, whose account changes that label of a pod and nothing else", async () => {
    const path = `${ours}/rebootgates/k8s-master`;
    const body = { status: { verdict: "Allow" } };
    expect(await server.ask({ method: "PATCH", path, type: mergePatch, body })).toMatchObject({ code: 403 });
    const pod = "/api/v1/namespaces/levee-system/pods/levee-k8s-master";
    const patch = (metadata: object): Promise<Answer> =>
      server.ask({ method: "PATCH", path: pod, type: mergePatch, body: { metadata }, as: { user: guardUser } });
    expect((await patch({ labels: { "levee.dev/reboot": "deny" } })).code).toBe(200);
    for (const metadata of [
      { labels: { "levee.dev/reboot": "maybe" } },
      { labels: { "levee.dev/reboot": null } },
      { labels: { "levee.dev/reboot": "deny", "other": "x" } },
      { labels: { "levee.dev/reboot": "deny" }, annotations: { a: "b" } },
    ])
      expect(await patch(metadata)).toMatchObject({ code: 403 });
    await putsBackAndNeverOpens();
    const node = (change: object): Promise<Answer> =>
      server.ask({
        method: "PATCH",
        path: "/api/v1/nodes/k8s-node1",
        type: mergePatch,
        body: change,
        as: { user: guardUser },
      });
    expect((await node({ metadata: { annotations: { "levee.dev/reboot-gate": "deny" } } })).code).toBe(200);
    for (const changes of [
      { metadata: { annotations: { other: "x" } } },
      { metadata: { labels: { other: "x" } } },
      { spec: { unschedulable: true } },
    ])
      expect(await node(changes)).toMatchObject({ code: 403 });
  });

  test("allows when nothing holds the node, and has an end when the guard is killed", async () => {
    await alertmanager.resolve([...alerts, nodeDisk]);
    await untilGate(
      "nothing holds the master",
      ({ verdict, override: word }) => verdict === "Allow" && word === undefined,
    );
    await until("both labels say allow", () => doorOf(server, "k8s-master") === "allow" || undefined);
    guard?.kill("SIGKILL");
    const left = await gateOf("k8s-master");
    expect(standingVerdict("k8s-master", left, Date.now()).isAllowed).toBe(true);
    expect(standingVerdict("k8s-master", left, Date.now() + 30_000).isAllowed).toBe(false);
  }, 180_000);
});
