/** On a pod: the networks it asks for. */
export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";
/** On a pod: the default network it asks for instead of the node's. */
export const defaultNetworkAnnotation = "v1.multus-cni.io/default-network";
/** On a pod: the networks it has. The daemon writes it. */
export const networkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status";
/** On a network definition: the device plugin's resource that its devices come from. */
export const resourceNameAnnotation = "k8s.v1.cni.cncf.io/resourceName";
/** On a definition of a bridge network: the bridge's port that leads out of the host, or `none` for a bridge without. */
export const uplinkAnnotation = "levee.dev/uplink";
/** On a definition of a bridge network: the VLAN of its uplink, as `57` or, with the interface below it, `57@eth1`. */
export const uplinkVlanAnnotation = "levee.dev/uplink-vlan";
/**
 * On a network definition with a resource: `CLAIM` or `CLAIM/REQUEST` of the pod, by the claim's name in the pod's
 * spec. The network then takes only a device that was given to it. It tells two networks on one pool apart.
 */
export const deviceRequestAnnotation = "levee.dev/device-request";
/** On a pod, by kubelet: where it learned of the pod; `api` unless the pod is a static one. */
export const configSourceAnnotation = "kubernetes.io/config.source";
/** On a pod of the API server, by kubelet: the pod mirrors a static one. */
export const configMirrorAnnotation = "kubernetes.io/config.mirror";
/**
 * A label, on the pods of the daemon and the hand: `deny` keeps kured (`--blocking-pod-selector=levee.dev/reboot=deny`)
 * from rebooting their node. The guard writes `allow` while a reboot is allowed. Either side closes.
 */
export const gateLabel = "levee.dev/reboot";
export const gateLabelDeny = "deny";

/**
 * Of an annotation by which a pod asks for networks: 64 networks with 256 characters each. A node's pods are kept in
 * memory, and whoever may create pods must not fill it.
 */
export const wishCharsMax = 16_384;

/** No annotation that asks for networks begins so. */
const mark = "\u0000too long: ";

/** The annotation; a mark with its length in the place of one that is too long, which no reader takes for "none". */
export function keptWish(text: string): string {
  return text.length > wishCharsMax ? `${mark}${text.length}` : text;
}

/** The length of an annotation that is too long, also of one that was not kept. */
export function tooLongWish(text: string): string | undefined {
  if (text.startsWith(mark)) return text.slice(mark.length);
  return text.length > wishCharsMax ? String(text.length) : undefined;
}
