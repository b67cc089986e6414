import type { JsonText } from "../../base/brand.ts";
import { ipamOf } from "../../cni/ipam.ts";
import { asJsonText, jsonKind, memberText, stringMember } from "../../cni/json-text.ts";
import {
  isBridgeType,
  isPluginType,
  parseNetworkConf,
  type NetworkConf,
  type PluginConf,
} from "../../cni/network-conf.ts";
import type { LinkNeed } from "../../readiness/master-rules.ts";
import type { PluginNeeds } from "../../readiness/network-rules.ts";
import type { UplinkWish } from "./uplink-wish.ts";

/** What the plugins of a network need from the host. Throws a LeveeError when the configuration is unusable. */
export function needsOfText(
  text: string,
  options: { readonly what: string; readonly defaultName: string },
  uplink?: UplinkWish,
): Needs {
  return needsOfConf(parseNetworkConf(asJsonText(text, options.what), options), uplink);
}

export type Needs = readonly PluginNeeds[];

export function needsOfConf(conf: NetworkConf, uplink: UplinkWish = {}): Needs {
  return conf.plugins.map((plugin) => ({
    programs: programsOf(plugin),
    cniVersion: conf.cniVersion,
    links: linksOf(plugin),
    ...bridgeOfPlugin(plugin, uplink),
    ...vlanBridgesOf(plugin),
    ...daemonOf(plugin),
    ...(uplink.isOpen === true && isBridgeType(plugin.type) ? { isOpen: true } : {}),
  }));
}

function bridgeOfPlugin({ type, text }: PluginConf, wish: UplinkWish): Pick<PluginNeeds, "bridge"> {
  const bridge = isBridgeType(type) && wish.isNone !== true ? bridgeToLookFor(text) : undefined;
  return bridge === undefined ? {} : { bridge: { bridge, ...wish.need } };
}

/**
 * The bridge that must exist before a pod is attached. The bridge plugin creates a missing bridge. That is enough where
 * the host routes for it; otherwise the bridge needs an uplink, and one that the plugin creates has none.
 */
export function bridgeToLookFor(text: JsonText): string | undefined {
  const isRouted = ["isGateway", "isDefaultGateway", "ipMasq"].some((key) => isSet(text, key));
  return isRouted ? undefined : bridgeOf(text);
}

const dhcpSocket = "/run/cni/dhcp.sock";
const ovsSocket = "/var/run/openvswitch/db.sock";

/** dhcp asks its own daemon, which holds the leases; ovs asks the switch's database, which may be on another host. */
function daemonOf({ type, text }: PluginConf): Pick<PluginNeeds, "daemon"> {
  const ipam = ipamOf(text);
  if (ipam.type === "dhcp") return { daemon: { name: "the daemon of dhcp", socket: ipam.daemonSocket || dhcpSocket } };
  const socket = (stringMember(text, "socket_file") || ovsSocket).replace(/^unix:/u, "");
  return type === "ovs" && socket.startsWith("/") ? { daemon: { name: "Open vSwitch", socket } } : {};
}

function programsOf({ type, text }: PluginConf): readonly string[] {
  const ipam = ipamOf(text);
  return isPluginType(ipam.type) ? [type, ipam.type] : [type];
}

function linksOf({ type, text }: PluginConf): readonly LinkNeed[] {
  switch (type) {
    case "macvlan":
    case "ipvlan":
    case "vlan":
      // Without a name the plugin takes the interface of the default route.
      return isSet(text, "linkInContainer") ? [] : named(stringMember(text, "master"), "master", onMaster(type, text));
    case "sriov":
      return named(stringMember(text, "master"), "master");
    case "host-device":
      return named(deviceOf(text), "device");
    default:
      return [];
  }
}

export function bridgeOf(text: JsonText): string {
  return stringMember(text, "bridge") || "cni0";
}

/** The plugin turns the filter on when it creates the bridge, and leaves an existing bridge as it is. */
function vlanBridgesOf({ type, text }: PluginConf): Pick<PluginNeeds, "vlanBridges"> {
  if (!isBridgeType(type)) return {};
  const vlan = Number(memberText(text, "vlan") ?? 0);
  const trunk = memberText(text, "vlanTrunk");
  const isTagged = vlan > 0 || (trunk !== undefined && jsonKind(trunk) === "array" && !/^\[\s*\]$/u.test(trunk));
  return isTagged ? { vlanBridges: [bridgeOf(text)] } : {};
}

/** The interface that host-device moves into the pod; empty when the device is named in another way. */
export function deviceOf(text: JsonText): string {
  return stringMember(text, "device");
}

function named(name: string, role: LinkNeed["role"], more: Partial<LinkNeed> = {}): readonly LinkNeed[] {
  return name === "" ? [] : [{ name, role, ...more }];
}

/** The kernel gives all that a port receives to its bridge or bond, so macvlan and ipvlan cannot have it. */
function onMaster(type: string, text: JsonText): Partial<LinkNeed> {
  const mtu = Number(memberText(text, "mtu") ?? 0);
  return { ...(mtu > 0 ? { mtu } : {}), ...(type === "vlan" ? {} : { isWhole: true }) };
}

function isSet(text: JsonText, key: string): boolean {
  return memberText(text, key) === "true";
}
