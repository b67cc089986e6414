import { passed, warned, type Check } from "./check.ts";
import { masterProblems, type LinkFacts, type LinkNeed } from "./master-rules.ts";
import { judgeUplink, type BridgeNeed, type BridgePorts } from "./uplink-rules.ts";

/** Whether pods can be attached to one network on this node. */
export interface NetworkReadiness {
  /** `namespace/name`, or the primary network's own name. */
  readonly network: string;
  /** `unknown`: no hand has looked at the host yet, or not at all of it. */
  readonly state: "ready" | "not-ready" | "unknown";
  /**
   * One phrase per missing thing, such as `missing host bridge br-prod`; for a ready network, its doubts; for an unknown
   * one, what a hand looked for and did not see.
   */
  readonly reasons: readonly string[];
  /** The reasons for which ADD is refused, because the plugin would succeed and the pod would reach nothing. */
  readonly gates?: readonly string[];
}

/** Programs, interfaces and daemons that one plugin of a network needs on its host. */
export interface PluginNeeds {
  /** The plugin's own program and the program of its IPAM. */
  readonly programs: readonly string[];
  /** The network's CNI version, which its programs must support. */
  readonly cniVersion?: string;
  /** Interfaces that must exist before a pod can be attached. */
  readonly links: readonly LinkNeed[];
  /** The bridge that must exist and lead out of the host. */
  readonly bridge?: BridgeNeed;
  /** Bridges that must filter VLANs, if they exist. */
  readonly vlanBridges?: readonly string[];
  /** Set when a lack of `bridge` or `vlanBridges` is only a doubt: the plugin makes a bridge, and the site wants that. */
  readonly isOpen?: true;
  /** The daemon without which the plugin does nothing. */
  readonly daemon?: DaemonNeed;
}

interface DaemonNeed {
  /** In words, for people. */
  readonly name: string;
  /** The socket on which it listens. */
  readonly socket: string;
}

/** What a plugin's program answered to VERSION; nothing where it gave no answer. */
export interface ProgramFacts {
  readonly versions?: readonly string[];
  /** Why it cannot be executed. */
  readonly problem?: string;
}

/** The host as a hand saw it; undefined where the hand could not look. */
export interface HostFacts {
  readonly hasProgram: (name: string) => boolean | undefined;
  readonly program: (name: string) => ProgramFacts | undefined;
  readonly hasLink: (name: string) => boolean | undefined;
  readonly link: (name: string) => LinkFacts | undefined;
  /** Whether a file of any kind is at this path. */
  readonly hasFile: (path: string) => boolean | undefined;
  /** The ports of a bridge that do not lead to a pod. */
  readonly uplinks: (bridge: string) => BridgePorts;
  /** Whether a bridge that exists filters VLANs. */
  readonly filtersVlans: (bridge: string) => boolean | undefined;
}

/**
 * A network is ready when nothing it needs is missing. Its bridge must exist, although the bridge plugin would create
 * one: a bridge created that way has no uplink, and the pod would reach nothing. On a bridge that does not filter VLANs
 * the plugin still succeeds, and the pod's traffic leaves untagged, in another VLAN.
 *
 * An uplink that the hand could not see makes the network unknown and is no gate: pods wait only for what is missing.
 */
export function judgeNetwork(network: string, plugins: readonly PluginNeeds[], host: HostFacts): NetworkReadiness {
  const needs = needsIn(plugins, host);
  const missing = needs.filter(({ has }) => has === false).map(({ reason }) => reason);
  const gates = unique(plugins.flatMap((plugin) => (plugin.isOpen === true ? [] : bridgeReasons(plugin, host))));
  const reasons = unique([...missing, ...plugins.flatMap((plugin) => unfit(plugin, host)), ...gates]);
  if (reasons.length > 0) return { network, state: "not-ready", reasons, ...(gates.length === 0 ? {} : { gates }) };
  const unseen = unique(plugins.flatMap((plugin) => (plugin.isOpen === true ? [] : unseenUplink(plugin, host))));
  if (unseen.length > 0 || needs.some(({ has }) => has === undefined))
    return { network, state: "unknown", reasons: unseen };
  const doubts = plugins.flatMap((plugin) => (plugin.isOpen === true ? bridgeReasons(plugin, host) : []));
  return { network, state: "ready", reasons: unique(doubts) };
}

interface Need {
  readonly has: boolean | undefined;
  readonly reason: string;
}

function needsIn(plugins: readonly PluginNeeds[], host: HostFacts): readonly Need[] {
  const programs = unique(plugins.flatMap((plugin) => plugin.programs)).map((name) => ({
    has: host.hasProgram(name),
    reason: `missing plugin ${name}`,
  }));
  const links = plugins
    .flatMap((plugin) => plugin.links)
    .map(({ name, role }) => ({ has: host.hasLink(name), reason: `missing host ${roleNames[role]} ${name}` }));
  const bridges = plugins
    .flatMap(({ bridge }) => bridge ?? [])
    // A missing one is told by `bridgeReasons`.
    .map(({ bridge }) => ({ has: host.hasLink(bridge) === undefined ? undefined : true, reason: "" }));
  const daemons = plugins
    .flatMap(({ daemon }) => daemon ?? [])
    .map(({ name, socket }) => ({ has: host.hasFile(socket), reason: `${name} does not run (no ${socket})` }));
  return [...programs, ...links, ...bridges, ...daemons];
}

/** Why a plugin would fail although its program and its interfaces exist. */
function unfit({ programs, cniVersion, links }: PluginNeeds, host: HostFacts): readonly string[] {
  const ofPrograms = programs.map((name) => {
    const { versions, problem } = host.program(name) ?? {};
    if (problem !== undefined) return `plugin ${name} cannot be run (${problem})`;
    if (cniVersion === undefined || versions?.includes(cniVersion) !== false) return undefined;
    return `plugin ${name} does not support cniVersion ${cniVersion}, only ${versions.join(", ")}`;
  });
  const ofLinks = links.flatMap((link) => masterProblems(link, host.link(link.name)));
  return [...ofPrograms.filter((reason) => reason !== undefined), ...ofLinks];
}

/** Why the bridge plugin would succeed, and the pod would reach nothing or the wrong network. */
function bridgeReasons({ bridge, vlanBridges = [] }: PluginNeeds, host: HostFacts): readonly string[] {
  const unfiltered = vlanBridges.filter((name) => host.filtersVlans(name) === false);
  return [
    ...(bridge === undefined ? [] : [missingBridge(bridge, host) ?? missingUplink(bridge, host)]),
    ...unfiltered.map(
      (name) => `host bridge ${name} does not filter VLANs (ip link set ${name} type bridge vlan_filtering 1)`,
    ),
  ].filter((reason) => reason !== undefined);
}

function missingBridge({ bridge }: BridgeNeed, host: HostFacts): string | undefined {
  return host.hasLink(bridge) === false ? `missing host bridge ${bridge}` : undefined;
}

function missingUplink(need: BridgeNeed, host: HostFacts): string | undefined {
  const verdict = judgeUplink(need, host.uplinks(need.bridge));
  return verdict.state === "missing" ? verdict.reason : undefined;
}

/** Nothing about a bridge that no hand has looked for. */
function unseenUplink({ bridge }: PluginNeeds, host: HostFacts): readonly string[] {
  if (bridge === undefined || host.hasLink(bridge.bridge) !== true) return [];
  const verdict = judgeUplink(bridge, host.uplinks(bridge.bridge));
  return verdict.state === "unseen" ? [verdict.reason] : [];
}

/** Two hosts with one address: ARP decides which of them is reached. */
export function takenAddress(address: string, ifname: string): string {
  return `${takenStart}${address} of ${ifname} is in the network's range`;
}

const takenStart = "host address ";

/** Doubts about a ready network; one that is not ready has more urgent matters. */
export function withDoubts<Verdict extends Omit<NetworkReadiness, "network">>(
  verdict: Verdict,
  doubts: readonly string[],
): Verdict {
  if (verdict.state !== "ready" || doubts.length === 0) return verdict;
  return { ...verdict, reasons: unique([...verdict.reasons, ...doubts]) };
}

export function brokenNetwork(network: string, reason: string): NetworkReadiness {
  return { network, state: "not-ready", reasons: [reason], gates: [reason] };
}

/** Name at most three networks in one sentence. */
const namedMax = 3;

/** Only a warning: a network that needs work on the host must not stop a rollout, because the others are served. */
export function networksCheck(networks: readonly NetworkReadiness[]): Check {
  const missing = networks.filter(({ state }) => state === "not-ready");
  if (missing.length === 0) {
    const unknown = networks.filter(({ state }) => state === "unknown").length;
    const isTaken = (reason: string): boolean => reason.startsWith(takenStart);
    const alone = networks.filter(({ state, reasons }) => state === "ready" && !reasons.every(isTaken)).length;
    const taken = networks.filter(({ reasons }) => reasons.some(isTaken)).length;
    const more = [
      unknown === 0 ? "" : `, ${unknown} not checked yet`,
      alone === 0 ? "" : `, ${alone} without an uplink`,
      taken === 0 ? "" : `, ${taken} with an address of this host in the range`,
    ];
    return passed("networks", `${networks.length - unknown} ready${more.join("")}`);
  }
  const named = missing.slice(0, namedMax).map(({ network, reasons }) => `${network} (${reasons.join(", ")})`);
  const rest = missing.length - named.length;
  return warned(
    "networks",
    `${missing.length} of ${networks.length} cannot be attached here: ${named.join("; ")}${rest === 0 ? "" : `; and ${rest} more`}`,
    "create the bridge or interface on the host, give the bridge its uplink, install the plugin, or start its daemon; pods that ask for these networks wait here, and start by themselves when nothing is missing any more",
  );
}

const roleNames = { master: "interface", device: "device" } as const;

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
