import { basename } from "node:path";
import { hasOffline } from "../../state/journal/offline-records.ts";
import type { LeakView } from "../../wire/node-view.ts";
import { confFacts } from "./conf-facts.ts";
import type { Context } from "../context.ts";
import { askLeaks } from "./ask-pages.ts";
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
  /** The daemon was away, so the shim left the DEL on disk for it. */
  readonly isLeftToDaemon: boolean;
  /** What the daemon could not undo and keeps as leaks. */
  readonly leftBehind: readonly LeakView[];
}

/** Undoes `levee attach`: DEL, then the namespace and the pod file. If a part fails, one can repeat the command. */
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

/** After enough failures a DEL succeeds, and what it could not undo becomes a leak. */
async function leaksOf(context: Context, pods: readonly PodSandbox[]): Promise<readonly LeakView[]> {
  if (pods.length === 0) return [];
  // The DEL has succeeded; if the daemon went away since, there is nothing more to ask.
  const { leaks } = await askLeaks(context).catch(() => ({ leaks: [] }));
  return leaks.filter((leak) => pods.some(({ containerId }) => containerId === leak.containerId));
}

/** Detaches one pod after another. A failure does not stop the others. */
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

/** The pod in the pod file; without one, every sandbox of that name that the daemon or the journal on disk knows. */
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

/** A pod of that name may belong to the container runtime and be running, so its networks must stay. */
function refuseForeign(key: PodKey, views: readonly { readonly netns: string; readonly containerId: string }[]): void {
  const foreign = views.find((view) => view.netns !== "" && basename(view.netns) !== netnsName(key));
  if (foreign === undefined) return;
  throw new CommandFailure(
    "not-ours",
    `Cannot detach ${podText(key)}: levee attach did not attach it, and its network namespace is ${foreign.netns}`,
    { remedy: "delete the pod; its runtime then detaches it" },
  );
}
