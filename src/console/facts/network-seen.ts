import type { SharedTexts } from "../../base/shared-texts.ts";
import { projectNetwork } from "../../kube/watch/project.ts";
import { isObject, objectOf, textOf } from "../../kube/client/json-fields.ts";

/** A network definition as the console shows it. */
export interface NetworkSeen {
  readonly namespace: string;
  readonly name: string;
  readonly config: string;
  /** Types of its plugins, in order. */
  readonly plugins: readonly string[];
  readonly ipam: IpamSeen;
}

export interface IpamSeen {
  readonly type: string;
  /** The range or subnet, as written; empty where it has none or several. */
  readonly range: string;
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
    plugins: links.map(({ type }) => texts.share(textOf(type))).filter((type) => type !== ""),
    ipam: ipamOf(links.map(({ ipam }) => objectOf(ipam)).find(({ type }) => textOf(type) !== "")),
  };
}

function ipamOf(ipam: Readonly<Record<string, unknown>> | undefined): IpamSeen {
  if (ipam === undefined) return { type: "", range: "" };
  return { type: textOf(ipam["type"]), range: textOf(ipam["range"]) || textOf(ipam["subnet"]) };
}

function parsed(config: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(JSON.parse(config));
  } catch {
    // The daemons say what is wrong with it; here it has no plugins.
    return {};
  }
}
