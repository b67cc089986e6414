import type { IfName, JsonText, Namespace, NetworkName } from "../base/brand.ts";

/** One network that a pod asks for, with its requests (NPWG multi-net specification 4.1). */
export interface SelectionElement {
  /** `""` for an empty item in the short form. No such network exists. */
  readonly name: string;
  readonly namespace: Namespace;
  readonly ifname?: IfName;
  readonly ips?: readonly string[];
  readonly mac?: string;
  readonly infinibandGuid?: string;
  /** Kept as text, because plugins get it as it was written. */
  readonly portMappings?: JsonText;
  readonly bandwidth?: JsonText;
  readonly deviceId?: string;
  /** Members of `cni-args`, each as text. */
  readonly cniArgs?: Readonly<Record<string, JsonText>>;
  /** Gateways. An empty list differs from none; see default-route.ts. */
  readonly defaultRoute?: readonly string[];
  readonly ipamClaimReference?: string;
  /** Unknown keys, ignored as in Multus but logged. */
  readonly unknownKeys: readonly string[];
}

export function networkNameOf(element: SelectionElement): NetworkName {
  return `${element.namespace}/${element.name}` as NetworkName; // this is the definition of the brand
}
