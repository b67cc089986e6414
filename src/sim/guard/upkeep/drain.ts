import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import { tenantClient, type ApiUser } from "../api-user.ts";
import { keyOfObject } from "../cluster-life.ts";
import { stuckPodObject } from "../cluster-objects.ts";
import type { GuardWorld } from "../guard-world.ts";
import { countAvailable, deploymentOf, isLeaving, makeOwnedPod, nodeFor, ownerOf, startSoon } from "./owned-pods.ts";
import type { UpkeepAct } from "./upkeep-act.ts";

const operator: ApiUser = { account: "person", name: "carol" };
/** A pod of a Deployment that comes up elsewhere runs after this. */
const startMs = 6_000;

/** Cordons a node, evicts its pods one after another, and uncordons it at the end. */
export function drain(world: GuardWorld, { node, forMs, everyMs }: Extract<UpkeepAct, { kind: "drain" }>): void {
  const { time, fleet } = world;
  fleet.cordon(node, true);
  let isOver = false;
  const evictNext = (): void => {
    if (isOver) return;
    const pod = world.api.objects("pods").find((one) => isOn(node, one));
    if (pod !== undefined) evict(world, pod);
    time.after(everyMs, evictNext);
  };
  evictNext();
  time.after(forMs, () => {
    isOver = true;
    fleet.cordon(node, false);
  });
}

/** Pods of a DaemonSet stay, as with `kubectl drain --ignore-daemonsets --force`. */
function isOn(node: string, pod: JsonObject): boolean {
  return objectOf(pod["spec"])["nodeName"] === node && !isLeaving(pod) && !ownerOf(pod).startsWith("DaemonSet/");
}

function evict(world: GuardWorld, pod: JsonObject): void {
  const { server, time } = world;
  const [namespace, name] = keyOfObject(pod).split("/");
  server.answer(operator, {
    method: "DELETE",
    path: `/apis/sim/v1/namespaces/${namespace}/pods/${name}`,
    body: "{}",
    sentMs: time.nowMs,
  });
  const deployment = deploymentOf(pod);
  if (deployment !== undefined) countAvailable(world, deployment);
  time.after(1_000, () => comeUpElsewhere(world, pod));
}

/** Whoever made the pod makes another one, as long as that is wanted. */
function comeUpElsewhere(world: GuardWorld, pod: JsonObject): void {
  const owner = ownerOf(pod);
  const { namespace } = objectOf(pod["metadata"]);
  const made = { namespace: textOf(namespace), owner, node: nodeFor(world) };
  if (owner === "") return makeAgain(world, made);
  if (owner.startsWith("Job/")) {
    if (isJobActive(world, `${made.namespace}/${owner.slice("Job/".length)}`)) makeOwnedPod(world, made);
    return;
  }
  startSoon(world, makeOwnedPod(world, made), startMs);
}

function isJobActive({ api }: GuardWorld, key: string): boolean {
  const spec = objectOf(api.get("jobs", key)?.["spec"]);
  return spec["suspend"] !== true && Number(spec["parallelism"] ?? 1) > 0;
}

/** Admission may refuse a pod without an owner by now. */
function makeAgain(
  world: GuardWorld,
  { namespace, node }: { readonly namespace: string; readonly node: string },
): void {
  const time = new Date(world.time.wallMs).toISOString();
  const pod = stuckPodObject({ namespace, generateName: "rd-browser-", node, time });
  try {
    world.create("pods", namespace, pod, tenantClient);
  } catch {
    // The client hears it, and its pod stays away.
  }
}
