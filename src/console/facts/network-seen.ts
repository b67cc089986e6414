import type { SharedTexts } from "../../base/shared-texts.ts";
import { projectNetwork } from "../../kube/watch/project.ts";
import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { rangeSizes, type RangeSizes } from "./address-ranges.ts";

/** A network definition as the console shows it. */
export interface NetworkSeen {
  readonly namespace: string;
  readonly name: string;
  readonly config: string;
  /** The name in the configuration, by which host-local keeps its addresses. */
  readonly confName: string;
  /** Types of its plugins, in order. */
  readonly plugins: readonly string[];
  readonly ipam: IpamSeen;
}

export interface IpamSeen {
  readonly type: string;
  readonly sizes: RangeSizes;
}

/** Longer than any that a person wrote; the rest is cut off for display. */
const configCharsMax = 16_384;

export function projectNetworkSeen(value: unknown, texts: SharedTexts): NetworkSeen | undefined {
  const network = projectNetwork(value, texts);
  if (network === undefined) return undefined;
  const { namespace, name, config = "" } = network;
  const conf = parsed(config);
  const links = Array.isArray(conf["plugins"]) ? conf["plugins"].filter(isObject) : [conf];
  return {
    namespace,
    name,
    config: config.slice(0, configCharsMax),
    confName: texts.share(textOf(conf["name"]) || name),
    plugins: links.map(({ type }) => texts.share(textOf(type))).filter((type) => type !== ""),
    ipam: ipamOf(links.map(({ ipam }) => objectOf(ipam)).find(({ type }) => textOf(type) !== "")),
  };
}

function ipamOf(ipam: JsonObject | undefined): IpamSeen {
  return ipam === undefined ? noIpam : { type: textOf(ipam["type"]), sizes: rangeSizes(ipam) };
}

export const noIpam: IpamSeen = { type: "", sizes: { v4: 0, v6: 0 } };

function parsed(config: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(config));
  } catch {
    // The daemons say what is wrong with it; here it has no plugins.
    return {};
  }
}
