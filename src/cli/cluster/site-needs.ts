import { parsePodSelector } from "../../config/pod-selector.ts";
import {
  csiDependency,
  ingressClassOf,
  ingressDependencies,
  loadBalancerDependency,
  serviceLabel,
  webhookDependencies,
  type Dependency,
} from "../../guard/facts/depended-on.ts";
import { objectsOf } from "../../guard/json-values.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { cniDaemonSet, isLeveeDaemon } from "./cni-daemon-set.ts";
import { seeList, seeObject, valueOr, type Asking, type Seen } from "./seen.ts";

/** What the cluster depends on, and which namespaces the daemons are told to let go first. */
export interface SiteNeeds {
  readonly dependencies: readonly Dependency[];
  /** What the daemons are told; undefined without a daemon of Levee. */
  readonly told: CriticalSettings | undefined;
}

interface CriticalSettings {
  /** Namespaces in `systemNamespaces` and `criticalPods`. */
  readonly namespaces: ReadonlySet<string>;
  /** Every daemon has the setting `criticalPods`, be it empty: a person has chosen. */
  readonly isChosen: boolean;
}

const hooks = "/apis/admissionregistration.k8s.io/v1";

/** `daemonSets` as the API server gives them. */
export async function seeSiteNeeds(asking: Asking, daemonSets: readonly unknown[]): Promise<Seen<SiteNeeds>> {
  const [validating, mutating, classes, services] = await Promise.all([
    seeList(asking, `${hooks}/validatingwebhookconfigurations`, webhookDependencies),
    seeList(asking, `${hooks}/mutatingwebhookconfigurations`, webhookDependencies),
    seeList(asking, "/apis/networking.k8s.io/v1/ingressclasses", ingressClassOf),
    seeList(asking, "/api/v1/services", (item) => ({ ...serviceLabel(item), needed: loadBalancerDependency(item) })),
  ]);
  const told = await toldOf(asking, daemonSets);
  const unseen = [validating, mutating, classes, services, told].find((part) => "why" in part);
  if (unseen !== undefined && "why" in unseen) return unseen;
  const known = valueOr(services, []);
  const dependencies = [
    ...[...valueOr(validating, []), ...valueOr(mutating, [])].flat(),
    ...daemonSets.flatMap((item) => csiDependency(item) ?? []),
    ...valueOr(classes, []).flatMap((item) => ingressDependencies(item, known)),
    ...known.flatMap(({ needed }) => needed ?? []),
  ];
  return { value: { dependencies, told: valueOr(told, undefined) } };
}

/** The settings of every daemon of Levee, from the ConfigMaps that they mount. */
async function toldOf(asking: Asking, daemonSets: readonly unknown[]): Promise<Seen<CriticalSettings | undefined>> {
  const ours = daemonSets.filter((item) => {
    const found = cniDaemonSet(item, []);
    return found !== undefined && isLeveeDaemon(found);
  });
  if (ours.length === 0) return { value: undefined };
  const namespaces = new Set<string>();
  let isChosen = true;
  for (const item of ours) {
    const config = await seeObject(asking, configPath(objectOf(item)));
    if ("why" in config) return config;
    const settings = settingsIn(config.value);
    for (const namespace of namesIn(settings)) namespaces.add(namespace);
    isChosen &&= Array.isArray(settings["criticalPods"]);
  }
  return { value: { namespaces, isChosen } };
}

function configPath(daemonSet: JsonObject): string {
  const namespace = textOf(objectOf(daemonSet["metadata"])["namespace"]);
  const template = objectOf(objectOf(daemonSet["spec"])["template"]);
  const [name = ""] = objectsOf(objectOf(template["spec"])["volumes"])
    .map(({ configMap }) => textOf(objectOf(configMap)["name"]))
    .filter((one) => one !== "");
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
}

/** A ConfigMap that is missing or no JSON has no settings; the daemon itself complains about it. */
function settingsIn(configMap: unknown): JsonObject {
  return parsed(textOf(objectOf(objectOf(configMap)["data"])["daemon-config.json"]));
}

function namesIn(settings: JsonObject): readonly string[] {
  const texts = (key: string): readonly string[] | undefined => {
    const list = settings[key];
    return Array.isArray(list) ? list.map(textOf) : undefined;
  };
  const critical = (texts("criticalPods") ?? []).flatMap((text) => parsePodSelector(text)?.namespace ?? []);
  return [...(texts("systemNamespaces") ?? ["kube-system"]), ...critical];
}

function parsed(text: string): JsonObject {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}
