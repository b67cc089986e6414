import { networkNamespace, type PodWish } from "../ground/node-source.ts";
import { primaryToo, secondary, secondaryToo } from "../ground/networks.ts";

const networks = "k8s.v1.cni.cncf.io/networks";
const defaultNetwork = "v1.multus-cni.io/default-network";
/** A bridge has at most 1,023 ports, so pods from this one on use other bridges. */
const firstOnOtherBridges = 1_000;

/** The pods that arrive all at once. */
export function stormPods(count: number): readonly PodWish[] {
  return Array.from({ length: count }, (_, index) => ({
    namespace: "storm",
    name: `p${index}`,
    annotations: index < firstOnOtherBridges ? onUsual : onOthers,
  }));
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

const onUsual = { [networks]: `${networkNamespace}/${secondary.name}` };
const onOthers = {
  [networks]: `${networkNamespace}/${secondaryToo.name}`,
  [defaultNetwork]: `${networkNamespace}/${primaryToo.name}`,
};
