import type { IfName, JsonText, NetworkName, PluginType } from "../base/brand.ts";

/**
 * The plugins of one attachment, with every byte they get, fixed before the first one starts.
 * The journal keeps the chain, so DEL runs with ADD's own bytes even if the network definition has changed since.
 */
export interface Chain {
  /** The name people use: `namespace/name` for a network definition, else the conf's name. */
  readonly network: NetworkName;
  /** The `name` in the configuration. IPAM plugins file addresses under it. */
  readonly confName: string;
  readonly ifname: IfName;
  readonly cniVersion: string;
  /** Whether this is the pod's default network. The runtime gets its result. */
  readonly isDefault: boolean;
  /** The node gives it to every pod: no annotation of a pod asks for it or takes it away. */
  readonly isOfNode?: true;
  /** CNI_ARGS for every plugin of the chain, the same at ADD, CHECK and DEL. */
  readonly cniArgs: string;
  readonly links: readonly ChainLink[];
  readonly disableCheck: boolean;
  readonly disableGC: boolean;
  readonly routes: RouteEdit;
  /** The facts that Multus would have kept, so that a node can go back to Multus. */
  readonly multus: MultusOrigin;
}

export interface ChainLink {
  readonly type: PluginType;
  /** The plugin's own bytes with name, cniVersion, runtimeConfig and args spliced in; prevResult is spliced per run. */
  readonly stdin: JsonText;
}

/** Changes to the default routes of this interface, made after its chain has run. */
export interface RouteEdit {
  readonly dropV4: boolean;
  readonly dropV6: boolean;
  /** Gateways to set, IPv4 or IPv6 text; at most one per family. */
  readonly gateways: readonly string[];
}

export interface MultusOrigin {
  /** The configuration (conf or conflist) as loaded, with the name injected. */
  readonly config: JsonText;
  readonly isList: boolean;
  /** Capability values that were offered to the plugins, as JSON text by capability name. */
  readonly capabilityArgs: Readonly<Record<string, JsonText>>;
  /** Fields of the selection element that Multus keeps in its scratch file. */
  readonly request: {
    readonly ifname?: string;
    readonly mac?: string;
    readonly infinibandGuid?: string;
    readonly ips?: readonly string[];
    readonly defaultRoute?: readonly string[];
    readonly deviceId?: string;
    readonly resourceName?: string;
  };
}
