import { isUnreachable } from "./ask.ts";
import { ask, type Context } from "./context.ts";
import { toFailure, type CommandFailure } from "./failure.ts";
import { netnsName, podText, type PodKey } from "./names.ts";
import { netnsExists, netnsPath, removeNetns } from "./netns.ts";
import { listPodFiles, readPodFile, removePodFile, type AttachedPod } from "./pod-file.ts";
import { withProgress } from "./progress.ts";
import { callShim } from "./shim-call.ts";

export interface Detached extends PodKey {
  /** Whether there was anything to detach. */
  readonly wasAttached: boolean;
}

/** Undoes `levee attach`: DEL, then the namespace and the pod file. Safe to repeat; what failed stays for the next try. */
export async function detach(context: Context, key: PodKey, conf: string): Promise<Detached> {
  const pods = await sandboxesOf(context, key);
  for (const pod of pods) {
    await withProgress(context.world, `Detaching ${podText(pod)}`, () =>
      callShim(context.world, context.settings, { verb: "DEL", pod, conf }),
    );
    await removeNetns(context.world, pod.netns);
  }
  const hadNetns = await removeNetns(context.world, netnsName(key));
  await removePodFile(context.settings.directory, key);
  return { ...key, wasAttached: pods.length > 0 || hadNetns };
}

/** One after another; a pod that cannot be detached does not keep the others attached. */
export async function detachEach(
  context: Context,
  pods: readonly PodKey[],
  conf: string,
): Promise<{ readonly done: readonly Detached[]; readonly failed: readonly CommandFailure[] }> {
  const done: Detached[] = [];
  const failed: CommandFailure[] = [];
  for (const pod of pods) {
    try {
      done.push(await detach(context, pod, conf));
    } catch (error) {
      failed.push(toFailure(error));
    }
  }
  return { done, failed };
}

/** Every pod that `levee attach` made in this directory. */
export async function attachedPods(context: Context): Promise<readonly PodKey[]> {
  return (await listPodFiles(context.settings.directory)).map(({ namespace, name }) => ({ namespace, name }));
}

/** The pod of the file; and, when a killed attach left only its namespace behind, what the daemon knows of that. */
async function sandboxesOf(context: Context, key: PodKey): Promise<readonly AttachedPod[]> {
  const known = await readPodFile(context.settings.directory, key);
  if (known !== undefined) return [known];
  if (!netnsExists(netnsName(key))) return [];
  const path = netnsPath(netnsName(key));
  const { attachments } = await ask(context, { ask: "attachments" }).catch((error: unknown) => {
    if (isUnreachable(error)) return { attachments: [] };
    throw error;
  });
  return attachments
    .filter((view) => view.namespace === key.namespace && view.pod === key.name && view.netns === path)
    .map((view) => ({ ...key, uid: view.uid, containerId: view.containerId, netns: netnsName(key) }));
}
