import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { Chain, ChainLink } from "./chain.ts";
import { removeMember } from "./json-text.ts";
import { parseNetworkConf } from "./network-conf.ts";
import { pluginStdin } from "./plugin-stdin.ts";
import { present } from "./present.ts";

/** Capability values from the node's device plugins. The pod has no say in them. */
const deviceCapabilities = ["deviceID", "CNIDeviceInfoFile"];
/** The pairs of CNI_ARGS that come from the pod's selection element. */
const requestedArgs = ["MAC=", "IP="];

/**
 * The chain as the network itself defines it, without the values that the pod asks for. Some plugins read these values
 * before every verb and refuse DEL as they refused ADD, although DEL goes by container and interface alone. Undefined
 * when the chain has no such values.
 */
export function withoutRequest(chain: Chain): Chain | undefined {
  const own = ownLinks(chain);
  if (own === undefined) return undefined;
  const cniArgs = chain.cniArgs.split(";").filter((pair) => !requestedArgs.some((start) => pair.startsWith(start)));
  const links = chain.links.map((link) => own.find((other) => isSamePlugin(other, link)) ?? link);
  const plain = { ...chain, links, cniArgs: cniArgs.join(";") };
  const isSame = plain.cniArgs === chain.cniArgs && links.every(({ stdin }, at) => stdin === chain.links[at]?.stdin);
  return isSame ? undefined : plain;
}

/** Undefined for a configuration that cannot be read, as a damaged file of Multus' cache may be. */
function ownLinks({ multus, cniVersion }: Chain): readonly ChainLink[] | undefined {
  const { capabilityArgs, request, config } = multus;
  const hasDevice = request.resourceName !== undefined;
  const runtimeConfig: Record<string, JsonText> = Object.fromEntries(
    Object.entries(capabilityArgs).filter(([key]) => hasDevice && deviceCapabilities.includes(key)),
  );
  const options = { runtimeConfig, ...present("deviceId", hasDevice ? request.deviceId : undefined) };
  try {
    const { name, plugins } = parseNetworkConf(config, { what: "the recorded configuration" });
    return plugins.map((plugin) => ({
      type: plugin.type,
      stdin: pluginStdin(plugin, { name, cniVersion, ...options }),
    }));
  } catch (thrown) {
    if (thrown instanceof LeveeError) return undefined;
    throw thrown;
  }
}

/** An entry of the leak ledger may lack some links, and a network may have a plugin twice, so the bytes decide. */
function isSamePlugin(left: ChainLink, right: ChainLink): boolean {
  return left.type === right.type && withoutRequested(left.stdin) === withoutRequested(right.stdin);
}

function withoutRequested(stdin: JsonText): JsonText {
  return removeMember(removeMember(stdin, "runtimeConfig"), "args");
}
