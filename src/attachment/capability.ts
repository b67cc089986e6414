import { LeveeError } from "../base/errors.ts";
import type { NetworkConf } from "../cni/network-conf.ts";
import type { SelectionElement } from "./selection-element.ts";

/**
 * Requests that only a plugin with the capability can serve (multi-net specification 4.1). `mac` and `ips` also travel
 * by CNI_ARGS, so granted.ts checks them in the result.
 */
const served = [
  { field: "portMappings", key: "portMappings", capability: "portMappings" },
  { field: "bandwidth", key: "bandwidth", capability: "bandwidth" },
  { field: "infinibandGuid", key: "infiniband-guid", capability: "infinibandGUID" },
] as const satisfies readonly { field: keyof SelectionElement; key: string; capability: string }[];

/**
 * Throws when the pod asks a network for a capability that none of its plugins declares. Multus drops the request and
 * attaches anyway, so a pod that asked for a fixed address would run with another one.
 */
export function checkCapabilities(
  source: { readonly network: string; readonly conf: NetworkConf },
  element: SelectionElement | undefined,
): void {
  if (element === undefined) return;
  const { plugins } = source.conf;
  for (const { field, key, capability } of served) {
    if (element[field] === undefined || plugins.some((plugin) => plugin.capabilities[capability] === true)) continue;
    const types = plugins.map((plugin) => plugin.type).join(", ");
    throw new LeveeError(
      "field-unsupported",
      `Cannot attach ${source.network} with "${key}": none of its plugins (${types}) declares the capability "${capability}"; add "capabilities": {"${capability}": true} to the plugin that serves it, or take "${key}" out of the pod's annotation`,
    );
  }
}
