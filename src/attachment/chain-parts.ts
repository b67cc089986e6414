import type { JsonText } from "../base/brand.ts";
import type { Chain, ChainLink, MultusOrigin } from "../cni/chain.ts";
import type { NetworkConf } from "../cni/network-conf.ts";
import { pluginStdin } from "../cni/plugin-stdin.ts";
import { present } from "../cni/present.ts";

/** The parts of a chain that belong to one pod. */
export interface OwnParts {
  /** Capability values that some plugin of the chain declares. */
  readonly offered: Readonly<Record<string, JsonText>>;
  /** From the selection element. */
  readonly cniArgs: Readonly<Record<string, JsonText>> | undefined;
  readonly deviceId: string | undefined;
  readonly request: MultusOrigin["request"];
}

type Parts = Pick<Chain, "links" | "multus">;

/**
 * The bulk of a chain. Pods without parts of their own share it, because each pod keeps its chains as long as it lives.
 */
export function chainParts(conf: NetworkConf, own: OwnParts): Parts {
  const common = commonParts.get(conf) ?? makeCommon(conf);
  const hasOwnLinks = !isEmpty(own.offered) || own.cniArgs !== undefined || own.deviceId !== undefined;
  const hasOwnOrigin = !isEmpty(own.offered) || !isEmpty(own.request);
  return {
    links: hasOwnLinks ? linksOf(conf, own) : common.links,
    multus: hasOwnOrigin ? originOf(conf, own) : common.multus,
  };
}

const commonParts = new WeakMap<NetworkConf, Parts>();
const nothingOfItsOwn: OwnParts = { offered: {}, cniArgs: undefined, deviceId: undefined, request: {} };

function makeCommon(conf: NetworkConf): Parts {
  const parts = { links: linksOf(conf, nothingOfItsOwn), multus: originOf(conf, nothingOfItsOwn) };
  commonParts.set(conf, parts);
  return parts;
}

function linksOf({ name, cniVersion, plugins }: NetworkConf, own: OwnParts): readonly ChainLink[] {
  const options = {
    name,
    cniVersion,
    runtimeConfig: own.offered,
    ...present("cniArgs", own.cniArgs),
    ...present("deviceId", own.deviceId),
  };
  return plugins.map((plugin) => ({ type: plugin.type, stdin: pluginStdin(plugin, options) }));
}

function originOf({ text, isList }: NetworkConf, { offered, request }: OwnParts): MultusOrigin {
  return { config: text, isList, capabilityArgs: offered, request };
}

function isEmpty(fields: object): boolean {
  return Object.keys(fields).length === 0;
}
