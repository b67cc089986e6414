import type { PodUid } from "../base/brand.ts";
import { deadline } from "../base/clock.ts";
import { LeveeError } from "../base/errors.ts";
import { podArgs, type CniArgs } from "../cni/cni-args.ts";
import type { DaemonConfig } from "../config/daemon-config.ts";
import type { Ports } from "./ports.ts";
import type { PodFacts } from "./view.ts";

/**
 * The pod a call is for. A runtime that names none (cnitool, nerdctl) gets the configuration's own networks; a pod that
 * is named and not known yet is waited for, and so is one whose predecessor of the same name is still in the view. In
 * the end it is an error: never a pod with other networks than it asked for.
 */
export async function findPod(
  args: CniArgs,
  ports: Pick<Ports, "view" | "clock" | "config">,
  signal: AbortSignal,
): Promise<PodFacts | undefined> {
  const { namespace, name, uid } = podArgs(args);
  if (namespace === undefined || name === undefined) return undefined;
  const found = await ports.view.findPod(namespace, name);
  if (found !== undefined && hasUid(found, uid)) return found;
  const waitMs = ports.config.addLookupMs;
  const why =
    found === undefined
      ? "it did not appear"
      : `expected pod UID "${uid ?? ""}" but got "${found.uid}", and no other came`;
  const unknown = (): LeveeError =>
    new LeveeError(
      "pod-unknown",
      `Cannot find the pod ${namespace}/${name}: ${why} within ${waitMs} ms${placeOf(ports.config)}`,
    );
  using limit = deadline(ports.clock, waitMs, unknown, signal);
  return await ports.view.waitForPod({ namespace, name, isWanted: (pod) => hasUid(pod, uid) }, limit.signal);
}

/** Where was looked: who has put the pod's file elsewhere, or has set no folder at all, sees it here. */
function placeOf({ directory }: DaemonConfig): string {
  return directory === undefined ? "; no directory is set" : ` in the folder ${directory}`;
}

/** A static pod's mirror on the API server has another UID than the one kubelet made up for it. */
function hasUid(pod: PodFacts, uid: PodUid | undefined): boolean {
  return uid === undefined || pod.uid === "" || pod.uid === uid || pod.isStatic;
}
