import type { JsonText, PodUid } from "../../base/brand.ts";
import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import { awaitPod, type LookupNeeds } from "./await-pod.ts";
import { podOfRuntime, runtimeAnnotations } from "./runtime-annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

export interface PodLookup {
  readonly args: CniArgs;
  /** The call's configuration, asked for only when the pod is not known; undefined when it cannot be had yet. */
  readonly config: () => Promise<JsonText | undefined>;
  /** When it must be found, on the monotonic clock. */
  readonly endsMs: number;
  /** Who waits for it, and may give up. */
  readonly caller: { readonly signal: AbortSignal };
}

export interface FoundPod {
  /** Undefined for a runtime that names none. */
  readonly pod: PodFacts | undefined;
  /** How it was found, when that took more than a look into the view. */
  readonly how?: string;
}

/**
 * The pod a call is for. A runtime that names none (cnitool, nerdctl) gets the configuration's own networks. One that is
 * named and not known yet, or whose predecessor of the same name is still in the view, is taken from the annotations
 * that came with the call; without them it is waited for. In the end it is an error: never a pod with other networks
 * than it asked for.
 */
export async function findPod(lookup: PodLookup, ports: LookupNeeds): Promise<FoundPod> {
  const { namespace, name, ...rest } = podArgs(lookup.args);
  if (namespace === undefined || name === undefined) return { pod: undefined };
  const found = await ports.view.findPod(namespace, name);
  if (found !== undefined && hasUid(found, rest.uid)) return { pod: found };
  const config = await lookup.config();
  const annotations = config === undefined ? undefined : runtimeAnnotations(config);
  if (annotations !== undefined) {
    return { pod: podOfRuntime({ ...rest, namespace, name }, annotations), how: "its annotations came with the call" };
  }
  const isWanted = (pod: PodFacts): boolean => hasUid(pod, rest.uid);
  return await awaitPod(
    { namespace, name, uid: rest.uid, other: found, isWanted },
    { endsMs: lookup.endsMs, signal: lookup.caller.signal },
    ports,
  );
}

/** A static pod's mirror on the API server has another UID than the one that kubelet made up for it. */
export function hasUid(pod: PodFacts, uid: PodUid | undefined): boolean {
  return uid === undefined || pod.uid === "" || pod.uid === uid || pod.isStatic;
}
