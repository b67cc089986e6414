import { objectOf } from "../../../kube/client/json-fields.ts";
import { listPages } from "../../../kube/watch/list-pages.ts";
import type { VerifyCheck } from "../../decision/step.ts";
import { countOf } from "../../json-values.ts";
import { projectDeployment, projectEndpointSlice } from "../../observe/project-workloads.ts";
import { rolloutMissing, updatesOnDelete, workloadPath } from "./daemon-set-live.ts";
import { eachLivePod } from "./live-pods.ts";
import { readyMissing } from "./rollout-live.ts";
import { readObject } from "../read-object.ts";
import type { StepContext } from "../step-runner.ts";
import { outsideProblem } from "./verify-outside.ts";
import { backlogText, isOfBacklog, shortOf, type BacklogGone } from "./verify-world.ts";

/** Why a check does not hold in the API server. Applications are too many to read, and daemons are not asked twice: the watch has them. */
export async function liveProblem(check: VerifyCheck, context: LiveContext): Promise<string | undefined> {
  switch (check.check) {
    case "DaemonSetReady":
      return await daemonSet(check, context);
    case "DeploymentAvailable":
      return await deployment(check, context);
    case "StatefulSetReady":
      return await statefulSet(check, context);
    case "EndpointsReady":
      return await endpoints(check, context);
    case "BacklogGone":
      return await backlog(check, context);
    case "ApplicationsKnown":
    case "MemoryEnough":
      return undefined;
    case "UrlAnswers":
    case "ProbesSucceed":
      return await outsideProblem(check, context);
  }
}

type LiveContext = Pick<StepContext, "api" | "signal" | "decision" | "clock" | "settings" | "getText" | "world">;

interface Place {
  readonly namespace: string;
  readonly name: string;
}

async function backlog(check: BacklogGone, context: LiveContext): Promise<string | undefined> {
  let found = 0;
  const seen = context.world();
  await eachLivePod(context, check.namespace, (pod) => {
    if (isOfBacklog(pod, check, context.decision, seen)) found += 1;
  });
  return backlogText(check, found);
}

async function daemonSet(place: Place, { api }: LiveContext): Promise<string | undefined> {
  const live = await readObject(api, workloadPath("daemonsets", place));
  if (live === undefined) return shortOf(place);
  const status = objectOf(objectOf(live)["status"]);
  const [ready, desired] = [countOf(status["numberReady"]), countOf(status["desiredNumberScheduled"])];
  const short = shortOf(place, ready, desired);
  // With OnDelete a person decides when pods become new.
  const missing = updatesOnDelete(live) ? undefined : rolloutMissing(live);
  return short ?? (missing === undefined ? undefined : `${place.namespace}/${place.name}: ${missing}`);
}

async function deployment(place: Place, { api }: LiveContext): Promise<string | undefined> {
  const live = await readObject(api, workloadPath("deployments", place));
  const facts = projectDeployment(live);
  const short = shortOf(place, facts?.available, facts?.desired);
  if (short !== undefined) return short;
  const generation = countOf(objectOf(objectOf(live)["metadata"])["generation"]);
  const isSeen = countOf(objectOf(objectOf(live)["status"])["observedGeneration"]) >= generation;
  return isSeen ? undefined : `${place.namespace}/${place.name}: its controller has not yet seen the newest change`;
}

async function statefulSet(place: Place, { api }: LiveContext): Promise<string | undefined> {
  const live = await readObject(api, workloadPath("statefulsets", place));
  if (live === undefined) return shortOf(place);
  const missing = readyMissing(live);
  return missing === undefined ? undefined : `${place.namespace}/${place.name}: ${missing}`;
}

async function endpoints({ namespace, name }: Place, { api, signal }: LiveContext): Promise<string | undefined> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`;
  const query = { labelSelector: `kubernetes.io/service-name=${name}` };
  let ready = 0;
  await listPages({ api, path, query, signal }, (item) => {
    ready += projectEndpointSlice(item)?.ready ?? 0;
  });
  return ready > 0 ? undefined : `${namespace}/${name}: no endpoint is ready`;
}
