import type { GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";

const volumesMax = 5;

/** Longhorn keeps the last healthy replica of a volume on this node. */
export function lastHealthyReplica({ name }: NodeFacts, { lastReplicas, nowMs }: GateFacts): readonly GateReason[] {
  const volumes = lastReplicas.get(name) ?? [];
  return volumes.slice(0, volumesMax).map((volume) => ({
    code: "LastHealthyReplica",
    message: `the only healthy replica of Longhorn's volume ${volume} is on node ${name}${volumes.length > volumesMax ? `, one of ${volumes.length} such volumes` : ""}`,
    sinceMs: nowMs,
    object: `Volume/${volume}`,
    remedy: `wait until Longhorn has rebuilt another replica; a volume with one replica needs a second: kubectl -n longhorn-system get replicas.longhorn.io -l longhornvolume=${volume}`,
  }));
}
