import type { Chain, ChainLink } from "./chain.ts";
import { jsonKind, memberText } from "./json-text.ts";

/**
 * Plugins whose DEL leaves nothing when the namespace is gone already: their interfaces end with the namespace, and the
 * rest of their work is in the host's. Read in the source of the reference plugins v1.9.1; ours is passthru.
 * Not here: host-device and sriov, whose devices come back without their name; sbr and tuning, which fail or keep a file.
 */
const selfCleaning: ReadonlySet<string> = new Set([
  "bandwidth",
  "bridge",
  "dummy",
  "firewall",
  "ipvlan",
  "loopback",
  "macvlan",
  "passthru",
  "portmap",
  "ptp",
  "tap",
  "vlan",
  "vrf",
]);
/** Their DEL finds the addresses by container and interface. dhcp sends its release from inside the namespace. */
const selfCleaningIpam: ReadonlySet<string> = new Set(["host-local", "static", "whereabouts"]);
/** bridge and ptp find the rules of these by the addresses in the namespace. Go reads keys in any case. */
const rulesByAddress = /"(?:ipmasq|macspoofchk)"\s*:\s*true/iu;

/** Whether the DEL of a chain may need its network namespace. Only a chain of well-known plugins surely does not. */
export function needsNetns({ links }: Pick<Chain, "links">): boolean {
  return !links.every(isSelfCleaning);
}

function isSelfCleaning({ type, stdin }: ChainLink): boolean {
  if (!selfCleaning.has(type) || rulesByAddress.test(stdin)) return false;
  if (!/"ipam"/iu.test(stdin)) return true;
  const ipam = memberText(stdin, "ipam");
  const kind = ipam === undefined || jsonKind(ipam) !== "object" ? undefined : memberText(ipam, "type");
  return kind !== undefined && selfCleaningIpam.has(String(JSON.parse(kind)));
}
