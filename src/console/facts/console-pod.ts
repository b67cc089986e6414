import { networksAnnotation } from "../../base/annotations.ts";
import type { SharedTexts } from "../../base/shared-texts.ts";
import { projectClusterPod } from "../../guard/facts/project-cluster-pod.ts";
import { objectsOf, timeMs } from "../../guard/json-values.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { PodMatch } from "../../wire/console-story.ts";
import { namedNetworks } from "./named-networks.ts";

/** The few fields of a pod that the console shows: 60,000 of them are kept. */
export interface ConsolePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  /** `host`: it uses the node's own network, and no plugin runs for it. */
  readonly state: PodMatch["state"] | "host";
  readonly boundMs: number;
  /** When it got its network; 0 for one that has none, or that does not say. */
  readonly attachedMs: number;
  /** `NAMESPACE/NAME` of the networks that it names. */
  readonly networks: readonly string[];
  readonly owner: string;
  readonly oomKilledMs: number;
  readonly restarts: number;
}

const none: readonly string[] = [];

export function projectConsolePod(value: unknown, texts: SharedTexts): ConsolePod | undefined {
  const pod = projectClusterPod(value, texts);
  if (pod === undefined) return undefined;
  const { namespace, name, uid, node, phase, boundMs, everRan, owner, oomKilledMs, restarts } = pod;
  const isHost = objectOf(objectOf(value)["spec"])["hostNetwork"] === true;
  const annotations = objectOf(objectOf(objectOf(value)["metadata"])["annotations"]);
  const asked = textOf(annotations[networksAnnotation]);
  return {
    ...{ namespace, name, uid, node, boundMs, owner, oomKilledMs, restarts },
    state: stateOf({ isHost, phase, node, everRan }),
    attachedMs: everRan && !isHost ? attachedMs(objectOf(objectOf(value)["status"])) : 0,
    networks: asked === "" ? none : namedNetworks(asked, namespace).map((network) => texts.share(network)),
  };
}

function stateOf(pod: {
  readonly isHost: boolean;
  readonly phase: string;
  readonly node: string;
  readonly everRan: boolean;
}): ConsolePod["state"] {
  if (pod.phase === "Succeeded" || pod.phase === "Failed") return "ended";
  if (pod.isHost) return "host";
  if (pod.node === "") return "unbound";
  return pod.everRan ? "attached" : "waiting";
}

/** Kubelet's condition for "sandbox and network are ready", since Kubernetes 1.29; before it, when the pod was started. */
function attachedMs(status: JsonObject): number {
  const ready = objectsOf(status["conditions"]).find(
    ({ type, status: is }) => type === "PodReadyToStartContainers" && is === "True",
  );
  return timeMs(ready?.["lastTransitionTime"]) || timeMs(status["startTime"]);
}

export function sameConsolePod(left: ConsolePod, right: ConsolePod): boolean {
  return (
    left.uid === right.uid &&
    left.state === right.state &&
    left.node === right.node &&
    left.boundMs === right.boundMs &&
    left.attachedMs === right.attachedMs &&
    left.oomKilledMs === right.oomKilledMs &&
    left.restarts === right.restarts &&
    left.networks.join() === right.networks.join()
  );
}
