import { passed, warned, type Check } from "./check.ts";

/** Whether pods can be attached to one network on this node. */
export interface NetworkReadiness {
  /** `namespace/name`, or the primary network's own name. */
  readonly network: string;
  /** `unknown`: no hand has looked at the host yet. */
  readonly state: "ready" | "not-ready" | "unknown";
  /** One phrase per missing thing, such as `missing host bridge br-prod`; for a ready network, its doubts. */
  readonly reasons: readonly string[];
}

/** Programs, interfaces and daemons that one plugin of a network needs on its host. */
export interface PluginNeeds {
  /** The plugin's own program and the program of its IPAM. */
  readonly programs: readonly string[];
  /** Interfaces that must exist before a pod can be attached. */
  readonly links: readonly LinkNeed[];
  /** Bridges that must filter VLANs, if they exist. */
  readonly vlanBridges?: readonly string[];
  /** The daemon without which the plugin does nothing. */
  readonly daemon?: DaemonNeed;
}

interface DaemonNeed {
  /** In words, for people. */
  readonly name: string;
  /** The socket on which it listens. */
  readonly socket: string;
}

export interface LinkNeed {
  readonly name: string;
  readonly role: "bridge" | "master" | "device";
}

/** The host as a hand saw it; undefined where the hand could not look. */
export interface HostFacts {
  readonly hasProgram: (name: string) => boolean | undefined;
  readonly hasLink: (name: string) => boolean | undefined;
  /** Whether a file of any kind is at this path. */
  readonly hasFile: (path: string) => boolean | undefined;
  /** Whether a bridge has a port that does not lead to a pod. */
  readonly hasUplink: (bridge: string) => boolean | undefined;
  /** Whether a bridge that exists filters VLANs. */
  readonly filtersVlans: (bridge: string) => boolean | undefined;
}

/**
 * A network is ready when nothing it needs is missing. Its bridge must exist, although the bridge plugin would create
 * one: a bridge created that way has no uplink, and the pod would reach nothing. On a bridge that does not filter VLANs
 * the plugin still succeeds, and the pod's traffic leaves untagged, in another VLAN.
 */
export function judgeNetwork(network: string, plugins: readonly PluginNeeds[], host: HostFacts): NetworkReadiness {
  const programs = unique(plugins.flatMap((plugin) => plugin.programs)).map((name) => ({
    has: host.hasProgram(name),
    reason: `missing plugin ${name}`,
  }));
  const links = plugins
    .flatMap((plugin) => plugin.links)
    .map(({ name, role }) => ({ has: host.hasLink(name), reason: `missing host ${roleNames[role]} ${name}` }));
  const daemons = plugins
    .flatMap(({ daemon }) => daemon ?? [])
    .map(({ name, socket }) => ({ has: host.hasFile(socket), reason: `${name} does not run (no ${socket})` }));
  const needs = [...programs, ...links, ...daemons];
  const missing = needs.filter(({ has }) => has === false).map(({ reason }) => reason);
  const reasons = unique([...missing, ...untagged(plugins, host)]);
  if (reasons.length > 0) return { network, state: "not-ready", reasons };
  if (needs.some(({ has }) => has === undefined)) return { network, state: "unknown", reasons };
  return { network, state: "ready", reasons: doubts(plugins, host) };
}

function untagged(plugins: readonly PluginNeeds[], host: HostFacts): readonly string[] {
  const bridges = plugins
    .flatMap(({ vlanBridges = [] }) => vlanBridges)
    .filter((name) => host.filtersVlans(name) === false);
  return bridges.map(
    (name) => `host bridge ${name} does not filter VLANs (ip link set ${name} type bridge vlan_filtering 1)`,
  );
}

/**
 * A bridge that the plugin created exists but has no uplink. This is only a doubt, because some bridges are meant to
 * have none.
 */
function doubts(plugins: readonly PluginNeeds[], host: HostFacts): readonly string[] {
  const bridges = plugins.flatMap(({ links }) => links.filter(({ role }) => role === "bridge"));
  const alone = bridges.filter(({ name }) => host.hasUplink(name) === false);
  return unique(alone.map(({ name }) => `host bridge ${name} has no uplink`));
}

export function brokenNetwork(network: string, reason: string): NetworkReadiness {
  return { network, state: "not-ready", reasons: [reason] };
}

/** Name at most three networks in one sentence. */
const namedMax = 3;

/** Only a warning: a network that needs work on the host must not stop a rollout, because the others are served. */
export function networksCheck(networks: readonly NetworkReadiness[]): Check {
  const missing = networks.filter(({ state }) => state === "not-ready");
  if (missing.length === 0) {
    const unknown = networks.filter(({ state }) => state === "unknown").length;
    const alone = networks.filter(({ reasons }) => reasons.length > 0).length;
    const more = [
      unknown === 0 ? "" : `, ${unknown} not checked yet`,
      alone === 0 ? "" : `, ${alone} without an uplink`,
    ];
    return passed("networks", `${networks.length - unknown} ready${more.join("")}`);
  }
  const named = missing.slice(0, namedMax).map(({ network, reasons }) => `${network} (${reasons.join(", ")})`);
  const rest = missing.length - named.length;
  return warned(
    "networks",
    `${missing.length} of ${networks.length} cannot be attached here: ${named.join("; ")}${rest === 0 ? "" : `; and ${rest} more`}`,
    "create the bridge or interface on the host, install the plugin, or start its daemon; pods that ask for these networks do not start here",
  );
}

const roleNames = { bridge: "bridge", master: "interface", device: "device" } as const;

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
