import type { Namespace } from "../base/brand.ts";
import type { NamedNetwork } from "./edit-selection.ts";
import { networkNameOf } from "./selection-element.ts";
import { parseSelection } from "./selection.ts";

/** One entry of a pod's network-status. */
export interface HeldInterface {
  readonly name: string;
  readonly ifname: string;
  readonly isDefault: boolean;
}

/** What has an interface name in a pod, or gets it when the pod starts again. */
export interface InterfaceHolder {
  readonly network: string;
  readonly ifname: string;
  /** Only the pod's next sandbox would have both. */
  readonly isLater: boolean;
  /** How its entry in the annotation is named to take it out; undefined for a network that the node gives to the pod. */
  readonly entry: string | undefined;
}

/**
 * The network that stands in the way of one more at the annotation's end. Two of one interface name are refused by the
 * daemon for as long as the annotation asks for both, and at the pod's next start both are.
 *
 * network-status has the names that networks without a name in the annotation really have. At the pod's start they get
 * `net` and their place behind the node's own networks. Entries of networks that the annotation no longer names go soon.
 */
export function interfaceHolder(
  annotation: string,
  podNamespace: Namespace,
  status: readonly HeldInterface[],
  { ifname }: Pick<NamedNetwork, "ifname">,
): InterfaceHolder | undefined {
  const elements = parseSelection(annotation, podNamespace).map((element) => ({
    network: String(networkNameOf(element)),
    ifname: element.ifname,
  }));
  const asked = new Set(elements.map(({ network }) => network));
  const nodeCount = new Set(status.flatMap(({ name }) => (asked.has(name) ? [] : name))).size;
  const atStart = (place: number): string => `net${Math.max(nodeCount, 1) + place}`;
  const named = elements.flatMap(({ network, ifname: held = "" }) =>
    held === "" ? [] : [holder(network, held, true)],
  );
  if (ifname === undefined) {
    const taken = named.find((one) => one.ifname === atStart(elements.length));
    return taken && { ...taken, isLater: true };
  }
  const nameless = elements.filter((element) => element.ifname === undefined);
  const real = status.flatMap(({ name, ifname: held, isDefault }) => {
    if (isDefault || !name.includes("/")) return [{ ...holder(name, held, false), entry: undefined }];
    return nameless.some(({ network }) => network === name) ? [holder(name, held, false)] : [];
  });
  const later = elements.flatMap((element, place) =>
    element.ifname === undefined ? [{ ...holder(element.network, atStart(place), false), isLater: true }] : [],
  );
  return [...named, ...real, ...later].find((one) => one.ifname === ifname);
}

function holder(network: string, ifname: string, isNamed: boolean): InterfaceHolder {
  return { network, ifname, isLater: false, entry: isNamed ? `${network}@${ifname}` : network };
}
