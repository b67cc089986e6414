import { networkNamespace, type PodWish } from "../ground/node-source.ts";
import { primary, primaryToo, secondary, secondaryToo, type BridgeNetwork } from "../ground/networks.ts";

const networks = "k8s.v1.cni.cncf.io/networks";
const defaultNetwork = "v1.multus-cni.io/default-network";
const stormNamespace = "storm";
/** A bridge has at most 1,023 ports, so pods from this one on use other bridges. */
const firstOnOtherBridges = 1_000;

/** The pods that arrive all at once. */
export function stormPods(count: number): readonly PodWish[] {
  return Array.from({ length: count }, (_, index) => ({ namespace: stormNamespace, name: `p${index}` })).map((pod) => ({
    ...pod,
    annotations: isOnOtherBridges(pod) ? onOthers : onUsual,
  }));
}

/** Of a pod of the bench, for callers that run its plugins themselves. */
export function isOnOtherBridges({ namespace, name }: Pick<PodWish, "namespace" | "name">): boolean {
  return namespace === stormNamespace && Number(name.slice(1)) >= firstOnOtherBridges;
}

/** Six critical pods of another namespace. */
export const vitalPods: readonly PodWish[] = Array.from({ length: 6 }, (_, index) => ({
  namespace: "vital",
  name: `v${index}`,
  annotations: { [networks]: `${networkNamespace}/${secondary.name}` },
  isCritical: true,
}));

/** Six ordinary pods of a third namespace. */
export const otherPods: readonly PodWish[] = vitalPods.map(({ annotations }, index) => ({
  namespace: "other",
  name: `o${index}`,
  annotations,
}));

/** The default network of most pods comes from the runtime's configuration. */
export const usualNetworks: readonly [BridgeNetwork, BridgeNetwork] = [primary, secondary];
export const otherNetworks: readonly [BridgeNetwork, BridgeNetwork] = [primaryToo, secondaryToo];

const onUsual = { [networks]: `${networkNamespace}/${usualNetworks[1].name}` };
const onOthers = {
  [networks]: `${networkNamespace}/${otherNetworks[1].name}`,
  [defaultNetwork]: `${networkNamespace}/${otherNetworks[0].name}`,
};
