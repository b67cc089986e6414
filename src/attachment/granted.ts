import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { Chain } from "../cni/chain.ts";
import { compareVersions } from "../cni/cni-version.ts";
import { parseCidr, parseIp } from "../cni/ip.ts";
import { parseResult, type CniResult } from "../cni/result.ts";

/**
 * Throws when the result lacks the MAC or IP address that the pod asked for. Both also travel by CNI_ARGS, where
 * bridge, macvlan, host-local, static and others accept them without declaring a capability. KubeVirt's networks rely
 * on that, so only the result shows whether the request was served. A plugin that declares the capability is trusted.
 */
export function checkGranted(chain: Chain, text: JsonText): void {
  const { mac, ips } = undeclared(chain);
  if (mac === undefined && ips.length === 0) return;
  const result = parseResult(text, chain.cniVersion, `the result of ${chain.network}`);
  if (mac !== undefined) requireMac(chain, result, mac);
  for (const ip of ips) requireIp(chain, result, ip);
}

/** Requests to the default network are not checked, as in Multus. */
function undeclared(chain: Chain): { readonly mac: string | undefined; readonly ips: readonly string[] } {
  const { request, capabilityArgs } = chain.multus;
  if (chain.isDefault) return { mac: undefined, ips: [] };
  return {
    mac: capabilityArgs["mac"] === undefined ? request.mac : undefined,
    ips: capabilityArgs["ips"] === undefined ? (request.ips ?? []) : [],
  };
}

function requireMac(chain: Chain, result: CniResult, wanted: string): void {
  // Older results name no interfaces, so their silence about a MAC says nothing.
  if (compareVersions(result.cniVersion, "0.3.0") < 0) return;
  const given = result.interfaces.find(({ name, sandbox }) => name === chain.ifname && sandbox !== undefined)?.mac;
  if (given === undefined || digitsOf(given) !== digitsOf(wanted)) throw refused(chain, "mac", wanted, given ?? "none");
}

/** Makes `02-00-…`, `0200.…` and capitals comparable. */
function digitsOf(mac: string): string {
  return mac.toLowerCase().replace(/[^0-9a-f]/gu, "");
}

function requireIp(chain: Chain, result: CniResult, wanted: string): void {
  const text = (parseCidr(wanted)?.ip ?? parseIp(wanted))?.text;
  const given = result.ips.map(({ address }) => parseCidr(address)?.ip.text ?? address);
  if (text === undefined || !given.includes(text)) throw refused(chain, "ips", wanted, given.join(", ") || "none");
}

function refused(chain: Chain, key: "ips" | "mac", wanted: string, given: string): LeveeError {
  const types = chain.links.map(({ type }) => type).join(", ");
  return new LeveeError(
    "field-unsupported",
    `Cannot attach ${chain.network} with "${key}" ${wanted}: its plugins (${types}) declare no capability "${key}" and gave ${given}; add "capabilities": {"${key}": true} to the plugin that serves it, or take "${key}" out of the pod's annotation`,
  );
}
