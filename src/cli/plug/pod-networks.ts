import type { HeldInterface } from "../../attachment/interface-holder.ts";
import { networksAnnotation, networkStatusAnnotation } from "../../base/annotations.ts";
import { kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { CommandFailure } from "../failure.ts";
import { podText, type PodKey } from "../node/names.ts";
import type { Shell } from "../shell.ts";

const deadlineMs = 10_000;
const lookMs = 250;
/** Another writer changed the pod in between. */
const triesMax = 5;

/** A pod's networks on the API server: those it asks for, and those it has. */
export interface PodNetworksSeen {
  readonly version: string;
  readonly asked: string;
  readonly status: readonly HeldInterface[];
}

async function readPodNetworks(api: KubeApi, pod: PodKey): Promise<PodNetworksSeen> {
  const metadata = objectOf(objectOf(JSON.parse(await askForPod(api, pod)))["metadata"]);
  const annotations = objectOf(metadata["annotations"]);
  return {
    version: textOf(metadata["resourceVersion"]),
    asked: textOf(annotations[networksAnnotation]),
    status: entriesOf(textOf(annotations[networkStatusAnnotation])),
  };
}

async function askForPod(api: KubeApi, pod: PodKey): Promise<string> {
  try {
    return await api.call({ method: "GET", path: pathOf(pod), deadlineMs });
  } catch (thrown) {
    if (kubeStatusOf(thrown) !== 404) throw thrown;
    throw new CommandFailure("pod-unknown", `Cannot find the pod ${podText(pod)}`, {
      remedy: "kubectl get pods shows the pods; use --namespace for another namespace than default",
    });
  }
}

/** Changes the annotation unless the pod has changed since it was read; then `edit` gets the newer one. */
export async function editNetworks(
  api: KubeApi,
  pod: PodKey,
  edit: (seen: PodNetworksSeen) => string,
): Promise<PodNetworksSeen> {
  for (let left = triesMax; ; left -= 1) {
    const seen = await readPodNetworks(api, pod);
    const metadata = { resourceVersion: seen.version, annotations: { [networksAnnotation]: edit(seen) } };
    try {
      await api.call({
        method: "PATCH",
        path: pathOf(pod),
        contentType: "application/merge-patch+json",
        body: JSON.stringify({ metadata }),
        deadlineMs,
      });
      return seen;
    } catch (thrown) {
      if (kubeStatusOf(thrown) !== 409 || left <= 1) throw thrown;
    }
  }
}

interface AwaitedNetworks {
  readonly pod: PodKey;
  readonly isDone: (status: readonly HeldInterface[]) => boolean;
  /** Whether the text of an event tells of this change: the pod may have others that fail. */
  readonly isItsFailure: (text: string) => boolean;
  readonly waitMs: number;
}

/** Waits until network-status is as wanted. Fails with the daemon's own words, or when the time is over. */
export async function untilNetworks(
  shell: Shell,
  api: KubeApi,
  { pod, isDone, isItsFailure, waitMs }: AwaitedNetworks,
): Promise<readonly HeldInterface[]> {
  const { clock, interrupted } = shell;
  const endMs = clock.monotonicMs() + waitMs;
  // Events have whole seconds.
  const sinceMs = Math.floor(clock.wallMs() / 1_000) * 1_000;
  for (;;) {
    const { status } = await readPodNetworks(api, pod);
    if (isDone(status)) return status;
    const failure = await failureSince(api, pod, { sinceMs, isItsFailure });
    if (failure !== undefined)
      throw new CommandFailure("plug-failed", failure, {
        remedy: `levee why ${podText(pod)} on the pod's node; the daemon tries again while the annotation asks for it`,
      });
    if (clock.monotonicMs() >= endMs)
      throw new CommandFailure("try-later", `${podText(pod)} does not have its new networks after ${waitMs} ms`, {
        remedy: `levee why ${podText(pod)} on the pod's node; the resident hand must run there, and hotPlug must be on`,
      });
    await clock.sleep(lookMs, interrupted);
  }
}

async function failureSince(
  api: KubeApi,
  { namespace, name }: PodKey,
  { sinceMs, isItsFailure }: Pick<AwaitedNetworks, "isItsFailure"> & { readonly sinceMs: number },
): Promise<string | undefined> {
  const selector = encodeURIComponent(`involvedObject.kind=Pod,involvedObject.name=${name},type=Warning`);
  const path = `/api/v1/namespaces/${namespace}/events?fieldSelector=${selector}`;
  // Who may patch a pod need not be allowed to read events: then the status alone tells.
  const text = await api.call({ method: "GET", path, deadlineMs }).catch(() => "{}");
  const items = objectOf(JSON.parse(text))["items"];
  const events = Array.isArray(items) ? items.map(objectOf) : [];
  const failed = events.find(
    ({ reason, lastTimestamp, message }) =>
      /^Failed(?:Adding|Removing)Interface$/u.test(textOf(reason)) &&
      Date.parse(textOf(lastTimestamp)) >= sinceMs &&
      isItsFailure(textOf(message)),
  );
  return failed === undefined ? undefined : textOf(failed["message"]);
}

function entriesOf(text: string): readonly HeldInterface[] {
  try {
    const value: unknown = JSON.parse(text === "" ? "[]" : text);
    if (!Array.isArray(value)) return [];
    return value.map(objectOf).map((entry) => ({
      name: textOf(entry["name"]),
      ifname: textOf(entry["interface"]),
      isDefault: entry["default"] === true,
    }));
  } catch {
    // Not JSON, so it names no network.
    return [];
  }
}

function pathOf({ namespace, name }: PodKey): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}
