import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import type { CniDaemon } from "../facts/guard-settings.ts";
import { objectsOf, timeMs } from "../json-values.ts";
import { withoutUser } from "../git/repository-name.ts";
import type { ApplicationFacts, ApplicationSource, ProjectFacts, SyncWindow } from "../facts/world.ts";

const skipAnnotation = "argocd.argoproj.io/skip-reconcile";

/** Argo CD's names for the cluster it runs in. */
const ownCluster = { server: "https://kubernetes.default.svc", name: "in-cluster" };

/**
 * Keeps whether an Application is compared, whether it would revert a change, and which of these daemons it owns. There
 * may be thousands of Applications with hundreds of resources each, so other resources are dropped.
 */
export function projectApplication(value: unknown, daemons: readonly CniDaemon[] = []): ApplicationFacts | undefined {
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
    // An Application without a status has never been compared.
    sync: textOf(objectOf(status["sync"])["status"]) || "Unknown",
    comparisonErrorMs: timeMs(error?.["lastTransitionTime"]),
    // An empty object switches automatic sync on; `enabled: false` in it switches it off.
    isAutomated: isObject(automated) && automated["enabled"] !== false,
    skipsReconcile: textOf(objectOf(metadata["annotations"])[skipAnnotation]) === "true",
    source: sourceOf(spec),
    owns: isForOwnCluster(objectOf(spec["destination"])) ? daemonsIn(objectsOf(status["resources"]), daemons) : [],
  };
}

/** An Argo CD for several clusters also lists the other clusters' daemons, which have the same names. */
function isForOwnCluster({ server, name }: JsonObject): boolean {
  const isServer = (textOf(server) || ownCluster.server) === ownCluster.server;
  return isServer && (textOf(name) || ownCluster.name) === ownCluster.name;
}

function daemonsIn(resources: readonly JsonObject[], daemons: readonly CniDaemon[]): readonly string[] {
  const isListed = ({ namespace, daemonSet }: CniDaemon): boolean =>
    resources.some(
      (one) =>
        one["name"] === daemonSet &&
        one["kind"] === "DaemonSet" &&
        one["group"] === "apps" &&
        one["namespace"] === namespace,
    );
  return daemons.filter(isListed).map(({ namespace, daemonSet }) => `${namespace}/${daemonSet}`);
}

export function projectAppProject(value: unknown): ProjectFacts | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  const spec = objectOf(objectOf(value)["spec"]);
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    syncWindows: objectsOf(spec["syncWindows"]).map(windowOf),
    sourceNamespaces: textsOf(spec["sourceNamespaces"]),
  };
}

function sourceOf(spec: JsonObject): ApplicationSource {
  const source = objectOf(spec["source"]);
  const directory = objectOf(source["directory"]);
  const tools = ["helm", "kustomize", "plugin", "chart"];
  const isSingle = isObject(spec["source"]) && !Array.isArray(spec["sources"]);
  return {
    repository: withoutUser(textOf(source["repoURL"])),
    path: textOf(source["path"]),
    revision: textOf(source["targetRevision"]),
    // With patterns the guard cannot tell which files Argo CD reads.
    isPlain:
      isSingle &&
      tools.every((tool) => source[tool] === undefined) &&
      ["include", "exclude"].every((pattern) => (textOf(directory[pattern]) || "") === ""),
    ...(directory["recurse"] === true ? { isRecursive: true as const } : {}),
  };
}

function windowOf(window: JsonObject): SyncWindow {
  return {
    kind: textOf(window["kind"]),
    schedule: textOf(window["schedule"]),
    duration: textOf(window["duration"]),
    timeZone: textOf(window["timeZone"]),
    applications: textsOf(window["applications"]),
    needsAll: window["andOperator"] === true,
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
