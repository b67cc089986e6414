import type { JsonText } from "../../base/brand.ts";
import type { Chain, ChainLink } from "../../cni/chain.ts";
import { arrayElements, exactMember, jsonKind } from "../../cni/json-text.ts";

/** Capabilities whose values no other plugin of the chain feels. On the default network they come from the pod's spec. */
const ofOnePlugin = ["portMappings", "bandwidth"] as const;

/**
 * The values that a plugin got and that only its pod asked for, as one text; empty when it got none. A device that the
 * kubelet allocated is not among them, nor is the interface's name, which pods of all kinds choose.
 */
export function ownValues(chain: Chain, link: ChainLink): string {
  const { request, capabilityArgs } = chain.multus;
  const device = request.resourceName === undefined ? capabilityArgs["deviceID"] : undefined;
  const given = member(link.stdin, "runtimeConfig");
  const values = {
    // Later plugins of the chain meet these in the result of the earlier ones.
    ...{ mac: request.mac, ips: request.ips, guid: request.infinibandGuid, device },
    ...Object.fromEntries(ofOnePlugin.map((name) => [name, capabilityArgs[name] && member(given, name)])),
    cniArgs: ownArgs(chain, link),
  };
  const asked = Object.entries(values).filter(([, value]) => value !== undefined);
  return asked.length === 0 ? "" : JSON.stringify(asked);
}

/** The plugin's `args.cni`, unless the configuration of the network has the same. */
function ownArgs(chain: Chain, link: ChainLink): JsonText | undefined {
  const given = cniArgsOf(link.stdin);
  return given === cniArgsOf(confOf(chain, chain.links.indexOf(link))) ? undefined : given;
}

function confOf({ multus: { config, isList } }: Chain, index: number): JsonText | undefined {
  if (!isList) return config;
  const plugins = exactMember(config, "plugins");
  return plugins === undefined ? undefined : arrayElements(plugins)[index];
}

function cniArgsOf(text: JsonText | undefined): JsonText | undefined {
  return member(member(text, "args"), "cni");
}

/** The member of an object; undefined for any other kind of value. */
function member(text: JsonText | undefined, key: string): JsonText | undefined {
  return text !== undefined && jsonKind(text) === "object" ? exactMember(text, key) : undefined;
}
