import type { IfName, JsonText, NetworkName, PluginType } from "../base/brand.ts";

/**
 * One attachment in the form in which it is run: every byte the plugins will get, fixed before the first of them starts.
 * The journal keeps it, so DEL runs with what ADD ran with, whatever has happened to the network's definition since.
 */
export interface Chain {
  /** As people know it: `namespace/name` for a NetworkAttachmentDefinition, else the conf's name. */
  readonly network: NetworkName;
  /** The `name` in the configuration, by which IPAM plugins keep their books. */
  readonly confName: string;
  readonly ifname: IfName;
  readonly cniVersion: string;
  /** Whether this is the pod's default network, whose result is the runtime's answer. */
  readonly isDefault: boolean;
  /** CNI_ARGS for every plugin of the chain, at ADD, CHECK and DEL alike. */
  readonly cniArgs: string;
  readonly links: readonly ChainLink[];
  readonly disableCheck: boolean;
  readonly disableGC: boolean;
  readonly routes: RouteEdit;
  /** What Multus would have kept, so that going back to Multus works. */
  readonly multus: MultusOrigin;
}

export interface ChainLink {
  readonly type: PluginType;
  /** The plugin's own bytes with name, cniVersion, runtimeConfig and args spliced in; prevResult is spliced per run. */
  readonly stdin: JsonText;
}

/** What happens to default routes on this interface after its chain has run. */
export interface RouteEdit {
  readonly dropV4: boolean;
  readonly dropV6: boolean;
  /** Gateways to set, IPv4 or IPv6 text; at most one per family. */
  readonly gateways: readonly string[];
}

export interface MultusOrigin {
  /** The configuration (conf or conflist) as it was loaded, name injected. */
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
