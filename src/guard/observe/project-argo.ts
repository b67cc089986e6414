import { isObject, objectOf, textOf, type JsonObject } from "../../kube/json-fields.ts";
import { objectsOf, timeMs } from "../facts/json-values.ts";
import type { ApplicationFacts, ApplicationSource, ProjectFacts, SyncWindow } from "../facts/world.ts";

const skipAnnotation = "argocd.argoproj.io/skip-reconcile";

/** What of an Argo CD Application tells whether it is compared, and whether it would revert. */
export function projectApplication(value: unknown): ApplicationFacts | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  const spec = objectOf(objectOf(value)["spec"]);
  const status = objectOf(objectOf(value)["status"]);
  const automated = objectOf(spec["syncPolicy"])["automated"];
  const error = objectsOf(status["conditions"]).find((condition) => condition["type"] === "ComparisonError");
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    project: textOf(spec["project"]) || "default",
    // What has no status yet has never been compared.
    sync: textOf(objectOf(status["sync"])["status"]) || "Unknown",
    comparisonErrorMs: timeMs(error?.["lastTransitionTime"]),
    // An empty object switches it on; `enabled: false` inside switches it off.
    isAutomated: isObject(automated) && automated["enabled"] !== false,
    skipsReconcile: textOf(objectOf(metadata["annotations"])[skipAnnotation]) === "true",
    source: sourceOf(spec),
  };
}

export function projectAppProject(value: unknown): ProjectFacts | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  const windows = objectsOf(objectOf(objectOf(value)["spec"])["syncWindows"]);
  return { namespace: textOf(metadata["namespace"]), name, syncWindows: windows.map(windowOf) };
}

function sourceOf(spec: JsonObject): ApplicationSource {
  const source = objectOf(spec["source"]);
  const tools = ["helm", "kustomize", "plugin", "chart"];
  const isSingle = isObject(spec["source"]) && !Array.isArray(spec["sources"]);
  return {
    repository: textOf(source["repoURL"]),
    path: textOf(source["path"]),
    revision: textOf(source["targetRevision"]),
    isPlain: isSingle && tools.every((tool) => source[tool] === undefined),
  };
}

function windowOf(window: JsonObject): SyncWindow {
  const applications = window["applications"];
  return {
    kind: textOf(window["kind"]),
    schedule: textOf(window["schedule"]),
    duration: textOf(window["duration"]),
    timeZone: textOf(window["timeZone"]),
    applications: Array.isArray(applications) ? applications.filter((one) => typeof one === "string") : [],
  };
}
