import { beforeEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { parseRebootGate, type RebootGate } from "../../wire/reboot-gate.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { doorPods, gateNowMs, gateWorldOf, markedView, policies, viewOf } from "./gate.fixture.ts";
import { GateKeeper } from "./gate-keeper.ts";
import type { GateObjects } from "./gate-objects.ts";
import { defaultGateSettings } from "./gate-settings.ts";

let requests: KubeRequest[];
let refuse: number | undefined;
let gates: Map<string, RebootGate>;
let pods: ClusterPod[];
let isCurrent: boolean;
let facts: Partial<World>;
let clock: NightClock;

/** Shows the time of that night. */
class NightClock extends ManualClock {
  nowMs = gateNowMs;

  override wallMs(): number {
    return this.nowMs;
  }
}

/** Keeps gates and labels as an API server does. */
const api: KubeApi = {
  async call(request) {
    await Promise.resolve();
    requests.push(request);
    if (refuse !== undefined) throw new KubeError("api-refused", `no: ${refuse}`, { status: refuse });
    store(request);
    return "{}";
  },
  lines: () => {
    throw new Error("no test watches");
  },
};

function store({ method, path, body = "{}" }: KubeRequest): void {
  const name = decodeURIComponent(path.split("/").at(-1) ?? "");
  const { metadata = {}, status } = JSON.parse(body) as {
    metadata?: { name?: string; labels?: Record<string, string> };
    status?: object;
  }; // our own
  const door = metadata.labels?.["levee.dev/reboot"];
  if (door !== undefined) pods = pods.map((pod) => (pod.name === name ? { ...pod, door } : pod));
  else if (method === "DELETE") gates.delete(name);
  else {
    const gate = parseRebootGate({ metadata: { name: metadata.name }, status })!;
    gates.set(gate.node, gate);
  }
}

function keeper(): GateKeeper {
  const objects = {
    isCurrent: () => true,
    gates: () => new Map(gates),
    gate: (node: string) => gates.get(node),
    exceptions: () => [],
    overrides: () => [],
    shutBudgets: () => [],
    replicas: () => [],
  } as unknown as GateObjects; // what the keeper reads
  const world = (): World => ({ ...gateWorldOf({ pods, ...facts }).world, nowMs: clock.wallMs() });
  return new GateKeeper({
    api,
    clock,
    logger: silentLogger,
    settings: defaultGuardSettings,
    gate: { ...defaultGateSettings, doors: ["label"] },
    facts: { isCurrent: () => isCurrent, world, policies: () => policies },
    objects,
  });
}

const term = { identity: "guard-a", fence: 3, isHeld: () => true };

beforeEach(() => {
  requests = [];
  refuse = undefined;
  gates = new Map();
  pods = [...doorPods];
  isCurrent = true;
  facts = {};
  clock = new NightClock();
});

function doors(node: string): readonly (string | undefined)[] {
  return pods.filter((pod) => pod.node === node).map(({ door }) => door);
}

test("GateKeeper allows, opens both labels, and closes them when an alert fires", async () => {
  const one = keeper();
  await one.look(term);
  expect(gates.get("k8s-master")).toMatchObject({ verdict: "Allow" });
  expect(doors("k8s-master")).toEqual(["allow", "allow"]);
  expect(doors("k8s-node1")).toEqual(["deny", "deny"]);
  const before = requests.length;
  await one.look(term);
  expect(requests.length).toBe(before);
  facts = { alerts: [{ name: "TargetDown", labels: {}, startsMs: 1 }] };
  await one.look(term);
  expect(gates.get("k8s-master")).toMatchObject({ verdict: "Deny" });
  expect(doors("k8s-master")).toEqual(["deny", "deny"]);
});

test("GateKeeper puts deny back on a pod that has lost its label, in the next look, although no node waits", async () => {
  facts = { nodeViews: [viewOf("k8s-master")] };
  pods = doorPods.map((pod) => (pod.node === "k8s-node1" ? { ...pod, door: "" } : pod));
  await keeper().look(term);
  expect(doors("k8s-node1")).toEqual(["deny", "deny"]);
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "PATCH /api/v1/namespaces/levee-system/pods/levee-k8s-node1",
    "PATCH /api/v1/namespaces/levee-system/pods/levee-hand-k8s-node1",
  ]);
});

test("GateKeeper removes the gate and closes the labels once the mark is gone", async () => {
  const one = keeper();
  await one.look(term);
  facts = { nodeViews: [viewOf("k8s-master")] };
  await one.look(term);
  expect(gates.size).toBe(0);
  expect(doors("k8s-master")).toEqual(["deny", "deny"]);
});

test("GateKeeper writes Unknown while it is blind, and closes the labels", async () => {
  const one = keeper();
  await one.look(term);
  isCurrent = false;
  await one.look(term);
  expect(gates.get("k8s-master")).toMatchObject({ verdict: "Unknown", reasons: [{ code: "GuardBlind" }] });
  expect(doors("k8s-master")).toEqual(["deny", "deny"]);
  expect(one.report?.outcome).toBe("blind");
});

test("GateKeeper opens no label for a gate that it could not write, and goes on after a refusal", async () => {
  const one = keeper();
  refuse = 403;
  await one.look(term);
  expect(doors("k8s-master")).toEqual(["deny", "deny"]);
  expect(one.report?.failedWrites).toBe(1);
  refuse = undefined;
  await one.look(term);
  expect(doors("k8s-master")).toEqual(["allow", "allow"]);
});

test("GateKeeper writes nothing once it no longer leads", async () => {
  await keeper().look({ ...term, isHeld: () => false });
  expect(requests).toEqual([]);
});

test("GateKeeper renews an Allow before it expires", async () => {
  const one = keeper();
  await one.look(term);
  const first = gates.get("k8s-master")!.expiresAtMs;
  facts = { nodeViews: [{ ...markedView, atMs: gateNowMs + 60_000 }] };
  clock.nowMs = gateNowMs + 60_000;
  await one.look(term);
  expect(gates.get("k8s-master")!.expiresAtMs).toBe(first + 60_000);
});
