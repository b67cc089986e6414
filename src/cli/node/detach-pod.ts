import { basename } from "node:path";
import { hasOffline } from "../../state/journal/offline-records.ts";
import type { LeakView } from "../../wire/node-view.ts";
import { confFacts } from "./conf-facts.ts";
import { askDaemon, type Context } from "../context.ts";
import { offlineDeleteName } from "./disk-view.ts";
import { CommandFailure, toFailure } from "../failure.ts";
import { netnsName, podText, type PodKey } from "./names.ts";
import { removeNetns } from "./netns.ts";
import { readAttachments } from "./node-source.ts";
import { listPodFiles, readPodFile, removePodFile } from "./pod-file.ts";
import { withProgress } from "../terminal/progress.ts";
import { callShim, shimIfname, type PodSandbox } from "./shim-call.ts";

export interface DetachedPod extends PodKey {
  /** Whether there was anything to detach. */
  readonly wasAttached: boolean;
  /** The daemon was not there: the shim left the DEL on disk for it. */
  readonly isLeftToDaemon: boolean;
  /** What the daemon gave up on for now and keeps among the leaks. */
  readonly leftBehind: readonly LeakView[];
}

/** Undoes `levee attach`: DEL, then the namespace and the pod file. Safe to repeat; what failed stays for the next try. */
export async function detachPod(context: Context, key: PodKey, conf: string): Promise<DetachedPod> {
  const pods = await sandboxesOf(context, key);
  const { stateDir } = confFacts(conf, context.settings);
  let isLeftToDaemon = false;
  for (const pod of pods) {
    await withProgress(context.shell, `Detaching ${podText(pod)}`, () =>
      callShim(context.shell, context.settings, { verb: "DEL", pod, conf }),
    );
    isLeftToDaemon ||= hasOffline(stateDir, offlineDeleteName(pod.containerId, shimIfname));
    await removeNetns(context.shell, pod.netns);
  }
  const leftBehind = isLeftToDaemon ? [] : await leaksOf(context, pods);
  const hadNetns = await removeNetns(context.shell, netnsName(key));
  await removePodFile(context.settings.directory, key);
  return { ...key, wasAttached: pods.length > 0 || hadNetns, isLeftToDaemon, leftBehind };
}

/** A DEL that has failed often enough ends well, and what it could not undo becomes a leak. */
async function leaksOf(context: Context, pods: readonly PodSandbox[]): Promise<readonly LeakView[]> {
  if (pods.length === 0) return [];
  // The DEL was done; a daemon that went away since has nothing to add to that.
  const { leaks } = await askDaemon(context, { ask: "leaks" }).catch(() => ({ leaks: [] }));
  return leaks.filter((leak) => pods.some(({ containerId }) => containerId === leak.containerId));
}

/** One after another; a pod that cannot be detached does not keep the others attached. */
export async function detachEach(
  context: Context,
  pods: readonly PodKey[],
  conf: string,
): Promise<{ readonly done: readonly DetachedPod[]; readonly failed: readonly CommandFailure[] }> {
  const done: DetachedPod[] = [];
  const failed: CommandFailure[] = [];
  for (const pod of pods) {
    try {
      done.push(await detachPod(context, pod, conf));
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

/** The pod of the file; without one, every sandbox of that name the daemon has on record, or else its journal on disk. */
async function sandboxesOf(context: Context, key: PodKey): Promise<readonly PodSandbox[]> {
  const known = await readPodFile(context.settings.directory, key);
  if (known !== undefined) return [known];
  const { answer } = await readAttachments(context);
  const views = answer.attachments.filter((view) => view.namespace === key.namespace && view.pod === key.name);
  refuseForeign(key, views);
  return views.map((view) => ({
    ...key,
    uid: view.uid,
    containerId: view.containerId,
    netns: netnsName(key),
    netnsPath: view.netns,
  }));
}

/** On a node a pod of that name may be the container runtime's, and running: its networks are not ours to take away. */
function refuseForeign(key: PodKey, views: readonly { readonly netns: string; readonly containerId: string }[]): void {
  const foreign = views.find((view) => view.netns !== "" && basename(view.netns) !== netnsName(key));
  if (foreign === undefined) return;
  throw new CommandFailure(
    "not-ours",
    `Cannot detach ${podText(key)}: levee attach did not make it, its network namespace is ${foreign.netns}`,
    { remedy: "delete the pod where it was made; its runtime detaches it" },
  );
}
