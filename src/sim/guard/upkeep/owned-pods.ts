import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import { objectsOf } from "../../../guard/json-values.ts";
import { controller } from "../api-user.ts";
import { keyOfObject } from "../cluster-life.ts";
import { deploymentObject, shopNamespace, startedStatus, stuckPodObject } from "../cluster-objects.ts";
import type { GuardWorld } from "../guard-world.ts";

const webReplicas = 4;

/** A Deployment of a tenant that runs well, for a story in which somebody looks after nodes or workloads. */
export function placeShop(world: GuardWorld): void {
  world.create("deployments", shopNamespace, deploymentObject(shopNamespace, "web", webReplicas));
  for (let number = 0; number < webReplicas; number += 1) {
    const pod = makeOwnedPod(world, { namespace: shopNamespace, owner: "ReplicaSet/web-1", node: nodeFor(world) });
    world.server.change(controller, "pods", pod, { status: startedStatus() });
  }
  countAvailable(world, `${shopNamespace}/web`);
}

/** `Kind/name`; empty without an owner. */
export function ownerOf(pod: JsonObject): string {
  const [owner] = objectsOf(objectOf(pod["metadata"])["ownerReferences"]);
  return owner === undefined ? "" : `${textOf(owner["kind"])}/${textOf(owner["name"])}`;
}

/** The Deployment of a pod; undefined for a pod of something else. */
export function deploymentOf(pod: JsonObject): string | undefined {
  const [, name] = /^ReplicaSet\/(.*)-[^-]*$/u.exec(ownerOf(pod)) ?? [];
  return name === undefined ? undefined : `${textOf(objectOf(pod["metadata"])["namespace"])}/${name}`;
}

export function isLeaving(pod: JsonObject): boolean {
  return objectOf(pod["metadata"])["deletionTimestamp"] !== undefined;
}

export function runsStill(pod: JsonObject | undefined): boolean {
  return pod !== undefined && !isLeaving(pod) && objectOf(pod["status"])["phase"] === "Running";
}

/** The node with the fewest pods among those that take some: what the scheduler does. */
export function nodeFor({ api, nodes, fleet }: GuardWorld): string {
  const counts = new Map(nodes.filter((node) => !fleet.isCordoned(node)).map((node) => [node, 0]));
  for (const pod of api.objects("pods")) {
    const node = textOf(objectOf(pod["spec"])["nodeName"]);
    const count = counts.get(node);
    if (count !== undefined) counts.set(node, count + 1);
  }
  const [best] = [...counts].toSorted(([, one], [, other]) => one - other);
  return best?.[0] ?? nodes[0] ?? "";
}

interface OwnedPod {
  readonly namespace: string;
  readonly owner: string;
  readonly node: string;
}

/** The key of the new pod, which waits. */
export function makeOwnedPod(world: GuardWorld, { namespace, owner, node }: OwnedPod): string {
  const time = new Date(world.time.wallMs).toISOString();
  const name = `${owner.slice(owner.indexOf("/") + 1)}-r${world.api.version}`;
  world.create("pods", namespace, stuckPodObject({ namespace, name, owner, node, time }));
  return `${namespace}/${name}`;
}

/** As a Deployment's controller counts. */
export function countAvailable({ api, server }: GuardWorld, deployment: string): void {
  const running = api.objects("pods").filter((pod) => deploymentOf(pod) === deployment && runsStill(pod)).length;
  const replicas = Number(objectOf(api.get("deployments", deployment)?.["spec"])["replicas"] ?? 0);
  server.change(controller, "deployments", deployment, { status: { availableReplicas: Math.min(running, replicas) } });
}

/** A pod of a Deployment starts when its node's network is well. */
export function startSoon(world: GuardWorld, key: string, afterMs: number): void {
  world.time.after(afterMs, () => {
    const pod = world.api.get("pods", key);
    if (pod === undefined || isLeaving(pod) || world.life.killedSince !== undefined) return;
    world.life.startPod(keyOfObject(pod));
    const deployment = deploymentOf(pod);
    if (deployment !== undefined) countAvailable(world, deployment);
  });
}
