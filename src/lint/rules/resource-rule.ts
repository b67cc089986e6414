import { resourceNameAnnotation } from "../../base/annotations.ts";
import { lintFinding, shownValue, type LintFinding } from "../lint-finding.ts";
import type { LintCluster, LintNetwork } from "../lint-objects.ts";

/** Some node offers the devices of the network. Without nodes nothing is known about them. */
export function resourceRule(network: LintNetwork, { nodes }: LintCluster): readonly LintFinding[] {
  const resource = network.annotations[resourceNameAnnotation] ?? "";
  if (resource === "" || nodes.length === 0 || nodes.some(({ resources }) => resources.includes(resource))) return [];
  const message = `no node offers ${shownValue(resource)}, so pods with this network are never scheduled`;
  return [
    lintFinding("LVN0701", network, { message, spot: { on: "field", path: ["annotations", resourceNameAnnotation] } }),
  ];
}
