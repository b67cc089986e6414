import type { JsonText, PodUid } from "../../base/brand.ts";
import { podArgs, type CniArgs } from "../../cni/cni-args.ts";
import { awaitPod, type LookupNeeds } from "./await-pod.ts";
import { podOfRuntime, runtimeAnnotations } from "./runtime-annotations.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

export interface PodLookup {
  readonly args: CniArgs;
  /** The call's configuration, asked for only when the pod is unknown; undefined when there is no room for it. */
  readonly config: () => Promise<JsonText | undefined>;
  /** When to give up, on the monotonic clock. */
  readonly endsMs: number;
  /** The call that waits for the pod. Its signal ends the look-up. */
  readonly caller: { readonly signal: AbortSignal };
}

export interface FoundPod {
  /** Undefined when the runtime names no pod. */
  readonly pod: PodFacts | undefined;
  /** How it was found, when it was not in the view. */
  readonly how?: string;
}

/**
 * Finds the pod of a call. A runtime that names none (cnitool, nerdctl) gets the configuration's own networks. The view
 * may not have the pod yet, or still have another one with its name: then the pod is made from the annotations that came
 * with the call, and without those it is waited for. A pod that is not found is an error, so that it never gets other
 * networks than it asked for.
 */
export async function findPod(lookup: PodLookup, needs: LookupNeeds): Promise<FoundPod> {
  const { namespace, name, ...rest } = podArgs(lookup.args);
  if (namespace === undefined || name === undefined) return { pod: undefined };
  const found = await needs.view.findPod(namespace, name);
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
    needs,
  );
}

/** The mirror of a static pod on the API server has another UID than kubelet's own. */
export function hasUid(pod: PodFacts, uid: PodUid | undefined): boolean {
  return uid === undefined || pod.uid === "" || pod.uid === uid || pod.isStatic;
}
