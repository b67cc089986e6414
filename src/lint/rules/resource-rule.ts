import { deviceRequestAnnotation, resourceNameAnnotation } from "../../base/annotations.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import { shownValue } from "../shown-value.ts";
import type { LintCluster, LintNetwork, LintNode, LintPod } from "../lint-objects.ts";

/** Some node offers the devices of the network, or pods get them by claims. */
export function resourceRule(
  network: LintNetwork,
  cluster: LintCluster,
  pods: readonly LintPod[],
): readonly LintFinding[] {
  const resource = lackedResource(network, cluster.nodes);
  if (resource === undefined || mayBeClaimed(resource, cluster, pods)) return [];
  const message = `no node offers ${shownValue(resource)}, and no claim brings it, so pods with this network are never scheduled`;
  return [
    lintFinding("LVN0701", network, { message, spot: { on: "field", path: ["annotations", resourceNameAnnotation] } }),
  ];
}

/**
 * The network's resource if no node offers it. Without nodes nothing is known about them. A network that names a request
 * takes a device of a claim in any case, and the pod's claim says which.
 */
export function lackedResource({ annotations }: LintNetwork, nodes: readonly LintNode[]): string | undefined {
  const resource = annotations[resourceNameAnnotation] ?? "";
  if (resource === "" || deviceRequestAnnotation in annotations || nodes.length === 0) return undefined;
  return nodes.some(({ resources }) => resources.includes(resource)) ? undefined : resource;
}

/** As the attribute of a device, or as the name of a claim; docs/devices.md has both. What is not known may be. */
function mayBeClaimed(
  resource: string,
  { publishedResources, claimNames }: LintCluster,
  pods: readonly LintPod[],
): boolean {
  if (publishedResources?.has(resource) !== false) return true;
  // No claim has such a name, so pods need not be known.
  if (resource.includes("/")) return false;
  return claimNames?.has(resource) !== false || pods.some((pod) => pod.claimNames.includes(resource));
}
