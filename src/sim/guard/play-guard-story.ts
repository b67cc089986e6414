import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { terminalPhases, type DecisionPhase } from "../../guard/decision/decision.ts";
import type { ApiUser } from "./api-user.ts";
import { keyOf } from "./cluster-life.ts";
import {
  daemonPod,
  deploymentObject,
  guardNamespace,
  jobObject,
  multus,
  nodeNames,
  sandboxEventObject,
  shopNamespace,
  stuckPodObject,
  tenantNamespace,
} from "./cluster-objects.ts";
import type { ClusterAct, GuardFault } from "./guard-story.ts";
import type { GuardWorld } from "./guard-world.ts";

const client: ApiUser = { account: "tenant", name: "browser-operator" };
/** A refused client tries again. */
const againMs = 6_000;
const again = 4;
const approvalPolicy = "levee-approval-names-its-author";
const staleMs = 12_000;
const slowAnswerMs = 4_000;
const usualAnswerMs = 12;

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
    default:
      begin(world, one, true);
      world.time.after(one.forMs, () => begin(world, one, false));
  }
}

function begin(world: GuardWorld, one: Extract<ClusterAct, { forMs: number }>, isOn: boolean): void {
  const { fleet, time, api } = world;
  if (one.kind === "alertmanager-away") fleet.isAlertmanagerAway = isOn;
  if (one.kind === "alert" && isOn) fleet.alerts.set("DiskFull", time.wallMs);
  if (one.kind === "alert" && !isOn) fleet.alerts.delete("DiskFull");
  if (one.kind === "node-down") fleet.setReady(one.node, !isOn);
  if (one.kind === "cordon") fleet.cordon(one.node, isOn);
  if (one.kind === "daemon-silent" && isOn) fleet.silent.add(one.node);
  if (one.kind === "daemon-silent" && !isOn) fleet.silent.delete(one.node);
  if (one.kind === "policy-away" && isOn) {
    api.remove("validatingadmissionpolicybindings", `/${approvalPolicy}`);
    return;
  }
  if (one.kind === "policy-away") world.placePolicies(0);
}

function avalanche(world: GuardWorld, { pods, everyMs, hasVictims }: Extract<ClusterAct, { kind: "avalanche" }>): void {
  const { time, life } = world;
  const now = new Date(time.wallMs).toISOString();
  if (hasVictims) {
    life.killedSince = now;
    for (const node of nodeNames) {
      life.remove("pods", `${multus.namespace}/${multus.name}-${node}-1`);
      world.create("pods", multus.namespace, daemonPod(multus, node, 1, now));
    }
    world.create("deployments", "kube-system", deploymentObject("kube-system", "traefik", 1));
    const owner = "ReplicaSet/traefik-6f9c";
    world.create(
      "pods",
      "kube-system",
      stuckPodObject({ namespace: "kube-system", name: "traefik-6f9c-a", node: nodeNames[0], owner, time: now }),
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

/** False when admission refuses it. */
function makePod(world: GuardWorld, number: number): boolean {
  // Most are on one node.
  const node = nodeNames[number % 5] ?? nodeNames[0];
  const time = new Date(world.time.wallMs).toISOString();
  const pod = stuckPodObject({ namespace: tenantNamespace, generateName: "rd-browser-", node, time });
  try {
    world.create("pods", tenantNamespace, pod, client);
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
    const node = nodeNames[number % nodeNames.length] ?? nodeNames[0];
    const pod = `${name}-${number}`;
    world.create(
      "pods",
      shopNamespace,
      stuckPodObject({ namespace: shopNamespace, name: pod, node, owner: `Job/${name}`, time }),
    );
    const uid = textOf(objectOf(world.api.get("pods", `${shopNamespace}/${pod}`)?.["metadata"])["uid"]);
    world.create("events", shopNamespace, sandboxEventObject(shopNamespace, pod, uid, node, time));
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
    guardNamespace,
    { metadata: { name: said }, spec },
    { account: "person", name: username },
  );
  if (withdrawAfterMs === undefined) return;
  world.time.after(withdrawAfterMs, () => world.life.remove("decisionapprovals", `${guardNamespace}/${said}`));
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
  if (kind === "start-pod") return world.life.startPod(keyOf(pod));
  world.life.remove("pods", keyOf(pod));
  const { uid: _uid, resourceVersion: _version, ...metadata } = objectOf(pod["metadata"]);
  world.create("pods", tenantNamespace, { ...pod, metadata });
}

/** Begins a fault now. One that lasts ends by itself. */
export function beginGuardFault(world: GuardWorld, fault: GuardFault): void {
  world.say({ kind: "fault", what: JSON.stringify(fault) });
  const leader = world.leadingGuard();
  const follower = world.guards.find((guard) => guard !== leader) ?? leader;
  switch (fault.kind) {
    case "kill-leader":
      return leader?.kill();
    case "kill-follower":
      return follower?.kill();
    case "kill-after-write":
    case "kill-after-change":
      world.trap = fault.kind;
      return;
    case "api-expired":
      world.api.compact();
      return world.api.wake();
    case "pause-leader":
      leader?.pause();
      return void world.time.after(fault.forMs, () => leader?.resume());
    default:
      return lasting(world, fault, fault.kind === "cut-follower" ? follower : leader);
  }
}

type Lasting = Extract<GuardFault, { forMs: number }>;

function lasting(world: GuardWorld, { kind, forMs }: Lasting, guard: GuardWorld["guards"][number] | undefined): void {
  const { api, time } = world;
  const turn = (isOn: boolean): void => {
    if (kind === "api-away") api.trouble.isAway = isOn;
    if (kind === "watches-away") api.trouble.isFollowAway = isOn;
    if (kind === "api-busy") api.trouble.busyShare = isOn ? 0.7 : 0;
    if (kind === "api-stale") api.trouble.lagMs = isOn ? staleMs : 0;
    if (kind === "api-slow") api.trouble.answerMsMax = isOn ? slowAnswerMs : usualAnswerMs;
    if ((kind === "cut-leader" || kind === "cut-follower") && guard !== undefined) guard.link.isCut = isOn;
    if (kind === "late-leader" && guard !== undefined) Object.assign(guard.link, late(isOn));
    api.wake();
  };
  turn(true);
  time.after(forMs, () => turn(false));
}

function late(isOn: boolean): { lateShare: number; lateMs: number } {
  return isOn ? { lateShare: 0.4, lateMs: 25_000 } : { lateShare: 0, lateMs: 0 };
}

/** Ends everything that lasts. */
export function calmGuards(world: GuardWorld): void {
  Object.assign(world.api.trouble, {
    isAway: false,
    isFollowAway: false,
    busyShare: 0,
    lagMs: 0,
    answerMsMax: usualAnswerMs,
  });
  world.trap = undefined;
  for (const { link } of world.guards) Object.assign(link, { isCut: false, ...late(false) });
  world.api.wake();
}
