import { kubeStatusOf } from "../../../kube/client/api.ts";
import { objectOf } from "../../../kube/client/json-fields.ts";
import { isCausePresent } from "../../decide/cause-present.ts";
import { shapeText } from "../../decide/shape-text.ts";
import { stopLabel } from "../../decide/stop-step.ts";
import type { StopSource, StopSourceStep } from "../../decision/step.ts";
import { isOwnerless } from "../../facts/cluster-pod.ts";
import { eachLivePod } from "./live-pods.ts";
import { readObject } from "../read-object.ts";
import { refusalText } from "../refusal-text.ts";
import { namespacePath, quotaInForce, quotaPath } from "./source-stopped.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";

const requestMs = 10_000;
const mergePatch = "application/merge-patch+json";
/** In the original outage one pod came every 16 s; a source that is silent for this long counts as stopped. */
export const quietMs = 30_000;

/** Makes a namespace refuse new pods without an owner, and checks whether any still come. */
export const stopSourceRunner: StepRunner<StopSourceStep> = {
  async precondition({ stopSource }, { api, decision, world, settings }) {
    const { namespace, way } = stopSource;
    if (!isCausePresent(decision, world(), settings))
      return "its cause is gone: too few pods of this template are still stuck";
    if ((await readObject(api, namespacePath(namespace))) === undefined) return `the namespace ${namespace} is gone`;
    const { isOwnerPolicyInstalled, namespaces } = world();
    if (way === "Label" && !isOwnerPolicyInstalled) return "the ownerless-pod policy is not installed as shipped";
    // A label that is already set was not enough.
    const isLabelled = namespaces.find(({ name }) => name === namespace)?.labels[stopLabel.key] === stopLabel.value;
    if (way === "Quota" && isOwnerPolicyInstalled && !isLabelled)
      return "the ownerless-pod policy is now installed and is the better way: reject this";
    return undefined;
  },

  async rehearse({ stopSource }, context) {
    try {
      await write(stopSource, context, "?dryRun=All");
      return undefined;
    } catch (thrown) {
      return refusalText(thrown);
    }
  },

  async perform({ stopSource }, context) {
    await write(stopSource, context, "");
    const { namespace } = stopSource;
    const what = stopSource.way === "Label" ? `${stopSource.key}=${stopSource.value}` : `pods=${stopSource.pods}`;
    context.audit("stop the source", [namespace], what);
    return { message: `${namespace} has ${what}` };
  },

  async check({ stopSource }, context) {
    const missing = await unmet(stopSource, context);
    return missing ?? (await newcomers(context));
  },
};

/** A merge patch can be repeated safely. */
async function write(stopSource: StopSource, { api }: StepContext, query: string): Promise<void> {
  const { namespace } = stopSource;
  if (stopSource.way === "Label") {
    const body = JSON.stringify({ metadata: { labels: { [stopSource.key]: stopSource.value } } });
    const path = `${namespacePath(namespace)}${query}`;
    await api.call({ method: "PATCH", path, body, contentType: mergePatch, deadlineMs: requestMs });
    return;
  }
  const spec = { hard: { pods: String(stopSource.pods) } };
  try {
    const path = `${quotaPath(namespace)}${query}`;
    await api.call({
      method: "PATCH",
      path,
      body: JSON.stringify({ spec }),
      contentType: mergePatch,
      deadlineMs: requestMs,
    });
  } catch (thrown) {
    if (kubeStatusOf(thrown) !== 404) throw thrown;
    const metadata = { name: stopSource.quota, namespace };
    const body = JSON.stringify({ apiVersion: "v1", kind: "ResourceQuota", metadata, spec });
    const path = `${namespacePath(namespace)}/resourcequotas${query}`;
    await api.call({ method: "POST", path, body, deadlineMs: requestMs });
  }
}

async function unmet(stopSource: StopSource, { api, world }: StepContext): Promise<string | undefined> {
  const { namespace } = stopSource;
  if (stopSource.way === "Quota") {
    const inForce = quotaInForce(await readObject(api, quotaPath(namespace)));
    return inForce === String(stopSource.pods) ? undefined : `the quota ${stopSource.quota} is not in force yet`;
  }
  const live = objectOf(objectOf(await readObject(api, namespacePath(namespace)))["metadata"]);
  if (objectOf(live["labels"])[stopSource.key] !== stopSource.value) return `${namespace} does not have the label`;
  return world().isOwnerPolicyInstalled ? undefined : "the policy that reads the label is no longer as shipped";
}

/**
 * Whether the avalanche still grows. It compares the pods before and after a silence and not their times, which come from
 * the API server's clock. The label alone proves nothing, because the policy does not cover every client.
 */
async function newcomers(context: StepContext): Promise<string | undefined> {
  const { clock, signal } = context;
  const before = await membersOf(context);
  await clock.sleep(quietMs, signal);
  const fresh = [...(await membersOf(context))].filter((uid) => !before.has(uid));
  if (fresh.length === 0) return undefined;
  return `${fresh.length} more pods of this template came within ${quietMs / 1_000} s, so the stop does not cover their client: find it in spec.summary and stop it by hand`;
}

/** All pods of the shape: new ones are not stuck yet. */
async function membersOf(context: StepContext): Promise<ReadonlySet<string>> {
  const { namespace, shape } = context.decision.spec.subject;
  const uids = new Set<string>();
  await eachLivePod(context, namespace, (pod) => {
    if (isOwnerless(pod) && shapeText(pod.shape) === shape) uids.add(pod.uid);
  });
  return uids;
}
