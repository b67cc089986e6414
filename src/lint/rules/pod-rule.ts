import { networksAnnotation } from "../../base/annotations.ts";
import { networkNameOf, type SelectionElement } from "../../attachment/selection.ts";
import { memberOf, isTrueMember } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { LintCluster, LintPod } from "../lint-objects.ts";
import { pluginKeys } from "../plugin-keys.ts";
import type { PodWish } from "../pod-wish.ts";
import type { ReadNetwork } from "../read-network.ts";

interface KnownNetworks {
  /** By `namespace/name`; undefined for one whose configuration cannot be read. */
  readonly networks: ReadonlyMap<string, ReadNetwork | undefined>;
  readonly cluster: LintCluster;
}

/** What a pod asks for, against the networks. */
export function podRule(wish: PodWish, known: KnownNetworks): readonly LintFinding[] {
  return [
    ...wish.networks.flatMap((element) => elementFindings(wish.pod, element, known)),
    ...defaultRoutes(wish),
    ...isolation(wish, known.cluster),
  ];
}

function elementFindings(pod: LintPod, element: SelectionElement, known: KnownNetworks): readonly LintFinding[] {
  const name = networkNameOf(element);
  const read = known.networks.get(name);
  if (read !== undefined) return [...capabilities(pod, element, read), ...primaryPlugin(pod, read)];
  if (known.networks.has(name) || !known.cluster.isComplete) return [];
  return [lintFinding("LVN0707", pod, { message: `it asks for ${name}, which does not exist`, spot })];
}

const spot = { on: "field", path: ["annotations", networksAnnotation] } as const;

/** Requests that only a plugin with the capability gets; the daemon refuses the pod otherwise. */
const needed = [
  { field: "portMappings", key: "portMappings", capability: "portMappings" },
  { field: "bandwidth", key: "bandwidth", capability: "bandwidth" },
  { field: "infinibandGuid", key: "infiniband-guid", capability: "infinibandGUID" },
] as const;

/** Plugins that take a MAC address, and address plugins that take addresses, from CNI_ARGS as well. */
const macTakers: ReadonlySet<string> = new Set("bridge cnv-bridge macvlan tap tuning cnv-tuning sriov ovs".split(" "));
const ipTakers: ReadonlySet<string> = new Set(["host-local", "static", "whereabouts"]);

function capabilities(pod: LintPod, element: SelectionElement, read: ReadNetwork): readonly LintFinding[] {
  const declares = (capability: string): boolean =>
    read.plugins.some(({ node }) => isTrueMember(memberOf(node, "capabilities")?.value, capability));
  const name = networkNameOf(element);
  const missing = needed
    .filter(({ field, capability }) => element[field] !== undefined && !declares(capability))
    .map(({ key, capability }) =>
      lintFinding("LVN0702", pod, {
        message: `it asks ${name} for "${key}", and no plugin there declares the capability "${capability}"`,
        spot,
      }),
    );
  const unserved = [
    ...(element.mac !== undefined && !declares("mac") && !takes(read, macTakers) ? ["mac"] : []),
    ...(element.ips !== undefined && !declares("ips") && !takesAddresses(read) ? ["ips"] : []),
  ].map((key) =>
    lintFinding("LVN0702", pod, {
      message: `it asks ${name} for "${key}", and no plugin there declares the capability or takes it another way`,
      severity: "warning",
      spot,
    }),
  );
  return [...missing, ...unserved];
}

/** Of a plugin that we do not know we cannot say that it does not take it. */
function takes({ plugins }: ReadNetwork, takers: ReadonlySet<string>): boolean {
  return plugins.some(({ type }) => takers.has(type) || pluginKeys(type) === undefined);
}

function takesAddresses(read: ReadNetwork): boolean {
  const isKnown = read.plugins.every(({ type }) => pluginKeys(type) !== undefined);
  return (
    !isKnown || read.plugins.some(({ ipam }) => ipam !== undefined && (ipTakers.has(ipam.type) || ipam.type !== "dhcp"))
  );
}

/** Plugins that know one network per pod. */
const primaryTypes: ReadonlySet<string> = new Set([
  "cilium-cni",
  "calico",
  "weave-net",
  "kindnet",
  "azure-vnet",
  "aws-cni",
]);

function primaryPlugin(pod: LintPod, read: ReadNetwork): readonly LintFinding[] {
  const type = read.plugins.map((plugin) => plugin.type).find((each) => primaryTypes.has(each));
  if (type === undefined) return [];
  const message = `it asks for ${read.network.namespace}/${read.network.name} as an additional network, and ${type} knows one network per pod`;
  return [lintFinding("LVN0705", pod, { message, spot })];
}

function defaultRoutes({ pod, networks }: PodWish): readonly LintFinding[] {
  const asked = networks.flatMap((element) =>
    (element.defaultRoute ?? []).map((gateway) => ({
      family: gateway.includes(":") ? 6 : 4,
      name: networkNameOf(element),
    })),
  );
  const again = asked.find(({ family }, at) => asked.slice(0, at).some((earlier) => earlier.family === family));
  if (again === undefined) return [];
  const message = `it asks for two default routes of IPv${again.family}, the second by ${again.name}`;
  return [lintFinding("LVN0602", pod, { message, spot })];
}

function isolation({ pod, networks }: PodWish, { isolation: rule }: LintCluster): readonly LintFinding[] {
  if (rule === undefined) return [];
  const other = networks.find(
    ({ namespace }) => namespace !== pod.namespace && !rule.globalNamespaces.includes(namespace),
  );
  if (other === undefined) return [];
  const message = `it asks for ${networkNameOf(other)}, which namespace isolation forbids to pods of ${pod.namespace}`;
  return [lintFinding("LVN0704", pod, { message, spot })];
}
