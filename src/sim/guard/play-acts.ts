import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { terminalPhases, type DecisionPhase } from "../../guard/decision/decision.ts";
import { tenantClient } from "./api-user.ts";
import { keyOfObject } from "./cluster-life.ts";
import {
  daemonPod,
  deploymentObject,
  simGuardNamespace,
  jobObject,
  simMultus,
  sandboxEventObject,
  shopNamespace,
  stuckPodObject,
  tenantNamespace,
} from "./cluster-objects.ts";
import type { ClusterAct } from "./guard-story.ts";
import type { GuardWorld } from "./guard-world.ts";
import { drain } from "./upkeep/drain.ts";
import { rollout } from "./upkeep/rollout.ts";

/** A refused client tries again. */
const againMs = 6_000;
const again = 4;
const approvalPolicy = "levee-approval-names-its-author";

/** Lets one thing happen in the cluster now. */
export function act(world: GuardWorld, one: ClusterAct): void {
  world.say({ kind: "fault", what: JSON.stringify(one) });
  switch (one.kind) {
    case "avalanche":
      return avalanche(world, one);
    case "runaway":
      return runaway(world, one.pods);
    case "word":
      return word(world, one);
    case "swap-pod":
    case "start-pod":
      return touchPod(world, one);
    case "reboot-due":
      return void world.fleet.due.set(one.node, world.time.wallMs);
    case "drain":
      return drain(world, one);
    case "rollout":
      return rollout(world, one);
    default:
      turnsOfActs[one.kind](world, one, true);
      world.time.after(one.forMs, () => turnsOfActs[one.kind](world, one, false));
  }
}

type LastingAct = Exclude<Extract<ClusterAct, { forMs: number }>, { kind: "drain" }>;
type Turn<T> = (world: GuardWorld, one: T, isOn: boolean) => void;

const turnsOfActs: Readonly<Record<LastingAct["kind"], Turn<LastingAct>>> = {
  "alertmanager-away": ({ fleet }, _one, isOn) => void (fleet.isAlertmanagerAway = isOn),
  "alert": ({ fleet, time }, _one, isOn) =>
    void (isOn ? fleet.alerts.set("DiskFull", time.wallMs) : fleet.alerts.delete("DiskFull")),
  "probe-fails": probeTrouble,
  "probe-hangs": probeTrouble,
  "node-down": ({ fleet }, one, isOn) => fleet.setReady(nodeOf(one), !isOn),
  "cordon": ({ fleet }, one, isOn) => fleet.cordon(nodeOf(one), isOn),
  "daemon-silent": ({ fleet }, one, isOn) =>
    void (isOn ? fleet.silent.add(nodeOf(one)) : fleet.silent.delete(nodeOf(one))),
  "policy-away": (world, _one, isOn) =>
    isOn ? world.api.remove("validatingadmissionpolicybindings", `/${approvalPolicy}`) : world.placePolicies(0),
};

function probeTrouble({ fleet }: GuardWorld, { kind }: LastingAct, isOn: boolean): void {
  if (kind !== "probe-fails" && kind !== "probe-hangs") return;
  const { troubles } = fleet.prometheus;
  if (isOn) troubles.add(kind);
  else troubles.delete(kind);
}

function nodeOf(one: LastingAct): string {
  return "node" in one ? one.node : "";
}

function avalanche(world: GuardWorld, { pods, everyMs, hasVictims }: Extract<ClusterAct, { kind: "avalanche" }>): void {
  const { time, life } = world;
  const now = new Date(time.wallMs).toISOString();
  if (hasVictims) {
    life.killedSince = now;
    for (const node of world.nodes) {
      life.remove("pods", `${simMultus.namespace}/${simMultus.name}-${node}-1`);
      world.create("pods", simMultus.namespace, daemonPod(simMultus, node, 1, now));
    }
    world.create("deployments", "kube-system", deploymentObject("kube-system", "traefik", 1));
    const owner = "ReplicaSet/traefik-6f9c";
    world.create(
      "pods",
      "kube-system",
      stuckPodObject({ namespace: "kube-system", name: "traefik-6f9c-a", node: nodeOfPod(world, 0), owner, time: now }),
    );
  }
  let refused = 0;
  const make = (number: number): void => {
    if (number === pods || refused > again) return;
    const isMade = makePod(world, number);
    if (!isMade) refused += 1;
    time.after(isMade ? everyMs : againMs, () => make(isMade ? number + 1 : number));
  };
  make(0);
}

function nodeOfPod({ nodes }: GuardWorld, number: number): string {
  return nodes[number % nodes.length] ?? "";
}

/** False when admission refuses it. */
function makePod(world: GuardWorld, number: number): boolean {
  // Most are on one node.
  const node = world.nodes[number % 5] ?? nodeOfPod(world, 0);
  const time = new Date(world.time.wallMs).toISOString();
  const pod = stuckPodObject({ namespace: tenantNamespace, generateName: "rd-browser-", node, time });
  try {
    world.create("pods", tenantNamespace, pod, tenantClient);
    return true;
  } catch {
    // The client hears it and tries again later.
    return false;
  }
}

function runaway(world: GuardWorld, pods: number): void {
  const time = new Date(world.time.wallMs).toISOString();
  const name = "nightly";
  world.create("jobs", shopNamespace, jobObject(name, pods));
  for (let number = 0; number < pods; number += 1) {
    const node = nodeOfPod(world, number);
    const pod = `${name}-${number}`;
    world.create(
      "pods",
      shopNamespace,
      stuckPodObject({ namespace: shopNamespace, name: pod, node, owner: `Job/${name}`, time }),
    );
    const uid = textOf(objectOf(world.api.get("pods", `${shopNamespace}/${pod}`)?.["metadata"])["uid"]);
    world.create("events", shopNamespace, sandboxEventObject({ namespace: shopNamespace, pod, uid, node, time }));
  }
}

/** An open Decision gets a person's word. */
function word(
  world: GuardWorld,
  { verdict, pick, isStale, withdrawAfterMs }: Extract<ClusterAct, { kind: "word" }>,
): void {
  const open = world.api.objects("decisions").filter(isOpen);
  const decision = open[pick % Math.max(1, open.length)];
  if (decision === undefined) return;
  const { name, uid } = objectOf(decision["metadata"]);
  const { planHash, revisions } = objectOf(decision["spec"]);
  const earlier = Array.isArray(revisions) ? objectOf(revisions[0])["planHash"] : "sha256:of-another-plan";
  const username = pick % 2 === 0 ? "alice" : "bob";
  const said = `word-${world.api.version}`;
  const spec = { decision: name, decisionUID: uid, planHash: isStale ? earlier : planHash, verdict, by: { username } };
  world.create(
    "decisionapprovals",
    simGuardNamespace,
    { metadata: { name: said }, spec },
    { account: "person", name: username },
  );
  if (withdrawAfterMs === undefined) return;
  world.time.after(withdrawAfterMs, () => world.life.remove("decisionapprovals", `${simGuardNamespace}/${said}`));
}

function isOpen({ status }: JsonObject): boolean {
  return !terminalPhases.has(textOf(objectOf(status)["phase"]) as DecisionPhase);
}

function touchPod(world: GuardWorld, { kind, pick }: Extract<ClusterAct, { kind: "swap-pod" | "start-pod" }>): void {
  const waiting = world.api.objects("pods").filter((pod) => {
    const { namespace } = objectOf(pod["metadata"]);
    return namespace === tenantNamespace && objectOf(pod["status"])["phase"] === "Pending";
  });
  const pod = waiting[pick % Math.max(1, waiting.length)];
  if (pod === undefined) return;
  if (kind === "start-pod") return world.life.startPod(keyOfObject(pod));
  world.life.remove("pods", keyOfObject(pod));
  const { uid: _uid, resourceVersion: _version, ...metadata } = objectOf(pod["metadata"]);
  world.create("pods", tenantNamespace, { ...pod, metadata });
}
