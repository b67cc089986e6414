import type { IfName, JsonText, Namespace, NetworkName } from "../base/brand.ts";

/** One network a pod asks for, and what it asks of it (NPWG multi-net specification 4.1). */
export interface SelectionElement {
  /** `""` when the short form had an empty item; no such network exists. */
  readonly name: string;
  readonly namespace: Namespace;
  readonly ifname?: IfName;
  readonly ips?: readonly string[];
  readonly mac?: string;
  readonly infinibandGuid?: string;
  /** Kept as text: handed to plugins as it was written. */
  readonly portMappings?: JsonText;
  readonly bandwidth?: JsonText;
  readonly deviceId?: string;
  /** Members of `cni-args`, each as text. */
  readonly cniArgs?: Readonly<Record<string, JsonText>>;
  /** Gateways; an empty list means something else than none. See default-route.ts. */
  readonly defaultRoute?: readonly string[];
  readonly ipamClaimReference?: string;
  /** Keys nobody knows: ignored as Multus does, but worth a line in the log. */
  readonly unknownKeys: readonly string[];
}

/** What people call the network of an element. */
export function networkNameOf(element: SelectionElement): NetworkName {
  return `${element.namespace}/${element.name}` as NetworkName; // this is the definition of the brand
}
