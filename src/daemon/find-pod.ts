import { deadline } from "../base/clock.ts";
import { LeveeError } from "../base/errors.ts";
import { podArgs, type CniArgs } from "../cni/cni-args.ts";
import type { Ports } from "./ports.ts";
import type { PodFacts } from "./view.ts";

/**
 * The pod a call is for. A runtime that names none (cnitool, nerdctl) gets the configuration's own networks; a pod that
 * is named and not known yet is waited for, and is an error in the end: never a pod with fewer networks than it asked for.
 */
export async function findPod(
  args: CniArgs,
  ports: Pick<Ports, "view" | "clock" | "config">,
  signal: AbortSignal,
): Promise<PodFacts | undefined> {
  const { namespace: podNamespace, name: podName, uid: podUid } = podArgs(args);
  if (podNamespace === undefined || podName === undefined) return undefined;
  const waitMs = ports.config.addLookupMs;
  const unknown = (): LeveeError =>
    new LeveeError(
      "pod-unknown",
      `Cannot find the pod ${podNamespace}/${podName}: it did not appear within ${waitMs} ms`,
    );
  const found = await ports.view.findPod(podNamespace, podName);
  using limit = deadline(ports.clock, waitMs, unknown, signal);
  const pod = found ?? (await ports.view.waitForPod(podNamespace, podName, limit.signal));
  // A static pod's mirror on the API server has another UID than the one kubelet made up for it.
  if (podUid !== undefined && pod.uid !== "" && podUid !== pod.uid && !pod.isStatic) {
    throw new LeveeError(
      "pod-unknown",
      `expected pod UID "${podUid}" but got "${pod.uid}" for ${podNamespace}/${podName}`,
    );
  }
  return pod;
}
