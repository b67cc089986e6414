import { networksAnnotation } from "../base/annotations.ts";
import { lintFinding, type LintFinding } from "./lint-finding.ts";
import type { LintCluster, LintNetwork, LintPod } from "./lint-objects.ts";
import { askedFor, podWish, type PodWish } from "./pod-wish.ts";
import { readNetwork, type ReadNetwork } from "./read-network.ts";
import { addressRule, clusterRangeRule, hostLocalRule, overlapRule } from "./rules/address-rule.ts";
import { duplicateRule } from "./rules/duplicate-rule.ts";
import { keyRule } from "./rules/key-rule.ts";
import { podRule } from "./rules/pod-rule.ts";
import { poolSizeRule } from "./rules/pool-size-rule.ts";
import { resourceRule } from "./rules/resource-rule.ts";
import { repeatRule } from "./rules/repeat-rule.ts";
import { routeRule } from "./rules/route-rule.ts";
import { shapeRule } from "./rules/shape-rule.ts";
import { typeRule } from "./rules/type-rule.ts";
import { unreadRule } from "./rules/unread-rule.ts";
import { vlanRule } from "./rules/vlan-rule.ts";

export interface LintInput {
  readonly networks: readonly LintNetwork[];
  readonly pods: readonly LintPod[];
  readonly cluster: LintCluster;
}

/** Every rule on every network and pod. It reads nothing else, so files and a cluster are looked at alike. */
export function lint({ networks, pods, cluster }: LintInput): readonly LintFinding[] {
  const { wishes, refused } = wishesOf(pods);
  const readings = networks.map((network) => ({ network, read: readNetwork(network) }));
  const readable = readings.flatMap(({ read }) => ("code" in read ? [] : [read]));
  const asked = askedFor(wishes, cluster.nodes);
  const defaults = new Set(wishes.map(({ defaultNetwork }) => defaultNetwork));
  const known = new Map(readings.map(({ network, read }) => [nameOf(network), "code" in read ? undefined : read]));
  return [
    ...readings.flatMap(({ network, read }) => ("code" in read ? [unreadRule(network, read)] : networkFindings(read))),
    ...readable.flatMap((read) => [
      ...routeRule(read, defaults.has(nameOf(read.network))),
      ...clusterRangeRule(read, cluster),
      ...poolSizeRule(read, { asking: asked.get(nameOf(read.network)) ?? 0, nodes: cluster.nodes }),
    ]),
    ...networks.flatMap((network) => resourceRule(network, cluster, pods)),
    ...repeatRule(networks),
    ...overlapRule(readable),
    ...refused,
    ...wishes.flatMap((wish) => podRule(wish, { networks: known, cluster })),
  ];
}

function networkFindings(read: ReadNetwork): readonly LintFinding[] {
  return [shapeRule, duplicateRule, typeRule, keyRule, vlanRule, addressRule, hostLocalRule].flatMap((rule) =>
    rule(read),
  );
}

function nameOf({ namespace, name }: LintNetwork): string {
  return `${namespace}/${name}`;
}

function wishesOf(pods: readonly LintPod[]): {
  readonly wishes: readonly PodWish[];
  readonly refused: readonly LintFinding[];
} {
  const wishes: PodWish[] = [];
  const refused: LintFinding[] = [];
  for (const pod of pods) {
    const wish = podWish(pod);
    if (typeof wish !== "string") wishes.push(wish);
    else
      refused.push(
        lintFinding("LVN0706", pod, {
          message: `the daemon refuses its annotation: ${wish}`,
          spot: { on: "field", path: ["annotations", networksAnnotation] },
        }),
      );
  }
  return { wishes, refused };
}
