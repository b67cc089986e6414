import type { ContainerId, IfName, JsonText, NetworkName } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Chain, MultusOrigin, RouteEdit } from "../../cni/chain.ts";
import { isIfName } from "../../cni/interface-name.ts";
import { appendElements, asJsonText, jsonString, jsonValue, setMember, exactMember } from "../../cni/json-text.ts";
import { confListText, parseNetworkConf, type NetworkConf } from "../../cni/network-conf.ts";
import { pluginStdin } from "../../cni/plugin-stdin.ts";
import { listAt, optionalTextAt, asShape, textAt, asText, type Shape } from "../files/json-shape.ts";
import type { MultusResult } from "./multus-result-file.ts";

export interface MultusAttachment {
  readonly chain: Chain;
  readonly result: JsonText | undefined;
}

/** The facts about the container besides the delegate itself. */
interface DelegateSurroundings {
  readonly containerId: ContainerId;
  /** Position in the scratch file. The first one is the default network. */
  readonly position: number;
  /** The container's results that no other delegate has taken. */
  readonly results: readonly MultusResult[];
  /** CNI_ARGS if no result has them. */
  readonly cniArgs: string;
}

/** One element of Multus' scratch file (v4.2.2 to HEAD) as a chain that can be run. */
export function delegateToAttachment(
  element: unknown,
  around: DelegateSurroundings,
): MultusAttachment & { readonly used: MultusResult | undefined } {
  const what = `network ${around.position} of container ${around.containerId}`;
  const delegate = asShape(element, what);
  const conf = confOf(delegate, what);
  const used = matchResult(delegate, conf.name, around);
  const ifname = used?.ifname ?? wantedIfname(delegate, around.position) ?? ("eth0" as IfName);
  const request = requestOf(delegate);
  const chain = chainOf(conf, {
    network: optionalTextAt(delegate, "Name") ?? "",
    ifname: checkedIfname(ifname, what),
    isDefault: around.position === 0,
    cniArgs: used?.cniArgs ?? around.cniArgs,
    capabilityArgs: used?.capabilityArgs ?? {},
    request,
    routes: routesOf(delegate, request),
  });
  return { chain, result: used?.result, used };
}

/**
 * A chain from a result file alone, without a scratch file. libcni keeps the configuration there, too. The name of the
 * network definition is not there.
 */
export function resultToAttachment(
  result: MultusResult,
  isDefault: boolean,
  request: MultusOrigin["request"] = {},
): MultusAttachment {
  const what = `network ${result.networkName} of container ${result.containerId}`;
  const conf = parseNetworkConf(result.config, { what, defaultName: result.networkName });
  const chain = chainOf(conf, {
    network: "",
    ifname: checkedIfname(result.ifname, what),
    isDefault,
    cniArgs: result.cniArgs ?? "",
    capabilityArgs: result.capabilityArgs,
    request,
    routes: { dropV4: false, dropV6: false, gateways: [] },
  });
  return { chain, result: result.result };
}

function routesOf(delegate: Shape, request: MultusOrigin["request"]): RouteEdit {
  return {
    dropV4: delegate["IsFilterV4Gateway"] === true,
    dropV6: delegate["IsFilterV6Gateway"] === true,
    gateways: request.defaultRoute ?? [],
  };
}

type ChainFacts = Pick<Chain, "ifname" | "isDefault" | "cniArgs" | "routes"> &
  Pick<MultusOrigin, "capabilityArgs" | "request"> & { readonly network: string };

function chainOf(conf: NetworkConf, facts: ChainFacts): Chain {
  const { capabilityArgs, request, network, ...rest } = facts;
  // Multus has put an allotted device into the bytes already. One that the pod named is in the capability values alone.
  const stdin = { name: conf.name, cniVersion: conf.cniVersion, runtimeConfig: capabilityArgs };
  return {
    ...rest,
    network: (network === "" ? conf.name : network) as NetworkName,
    confName: conf.name,
    cniVersion: conf.cniVersion,
    links: conf.plugins.map((plugin) => ({ type: plugin.type, stdin: pluginStdin(plugin, stdin) })),
    disableCheck: conf.disableCheck,
    disableGC: conf.disableGC,
    multus: { config: conf.text, isList: conf.isList, capabilityArgs, request },
  };
}

/** `CNINetworkConfigList` has each plugin's own bytes. In v4.2.1 to v4.3.0 `Bytes` of a list lacks unknown keys. */
function confOf(delegate: Shape, what: string): NetworkConf {
  const list = delegate["CNINetworkConfigList"];
  const plugins = typeof list === "object" && list !== null ? (list as Shape)["Plugins"] : undefined;
  if (Array.isArray(plugins) && plugins.length > 0) return losslessList(asShape(list, what), what);
  const text = asJsonText(Buffer.from(textAt(delegate, "Bytes"), "base64"), `the bytes of ${what}`);
  return parseNetworkConf(text, { what, defaultName: nameOf(delegate) });
}

function losslessList(list: Shape, what: string): NetworkConf {
  const plugins = listAt(list, "Plugins").map((plugin, position) => {
    const bytes = textAt(asShape(plugin, `plugin ${position}`), "Bytes");
    return asJsonText(Buffer.from(bytes, "base64"), `plugin ${position} of ${what}`);
  });
  const name = textAt(list, "Name");
  const version = optionalTextAt(list, "CNIVersion") ?? "";
  const original = optionalTextAt(list, "Bytes");
  if (original === undefined) return parseNetworkConf(confListText(name, version, plugins), { what });
  // The original file may lack plugins from a sub-directory.
  const text = setMember(
    asJsonText(Buffer.from(original, "base64"), `the list of ${what}`),
    "plugins",
    appendElements(jsonValue([]), plugins),
  );
  const named = exactMember(text, "name") === undefined ? setMember(text, "name", jsonString(name)) : text;
  return parseNetworkConf(named, { what, defaultCniVersion: version });
}

/** The configuration's own name, for a conf whose bytes lack it. */
function nameOf(delegate: Shape): string {
  for (const key of ["Conf", "ConfList"]) {
    const inner = delegate[key];
    const name = typeof inner === "object" && inner !== null ? (inner as Shape)["name"] : undefined;
    if (typeof name === "string" && name !== "") return name;
  }
  return (optionalTextAt(delegate, "Name") ?? "").replaceAll("/", "-");
}

/** The delegate's own result: by network and interface, or the only one of its network. */
function matchResult(delegate: Shape, network: string, around: DelegateSurroundings): MultusResult | undefined {
  const ofNetwork = around.results.filter((result) => result.networkName === network);
  const ifname = wantedIfname(delegate, around.position);
  const exact = ofNetwork.find((result) => result.ifname === ifname);
  if (exact !== undefined) return exact;
  return ofNetwork.length === 1 || ifname === undefined ? ofNetwork[0] : undefined;
}

/** Multus' rule. Undefined for the default network: the runtime named it, and the scratch file lacks that name. */
function wantedIfname(delegate: Shape, position: number): IfName | undefined {
  const requested = optionalTextAt(delegate, "ifnameRequest") ?? "";
  if (requested !== "") return requested as IfName;
  return position === 0 ? undefined : (`net${position}` as IfName);
}

function checkedIfname(ifname: string, what: string): IfName {
  if (isIfName(ifname)) return ifname;
  throw new LeveeError(
    "config-invalid",
    `Cannot take over ${what} as its interface name cannot be used: current value is ${JSON.stringify(ifname)}`,
  );
}

const requestTexts = [
  ["ifnameRequest", "ifname"],
  ["macRequest", "mac"],
  ["infinibandGUIDRequest", "infinibandGuid"],
  ["deviceID", "deviceId"],
  ["resourceName", "resourceName"],
] as const;
const requestLists = [
  ["ipRequest", "ips"],
  ["default-route", "defaultRoute"],
] as const;

function requestOf(delegate: Shape): MultusOrigin["request"] {
  const request: Record<string, string | readonly string[]> = {};
  for (const [theirs, ours] of requestTexts) {
    const value = optionalTextAt(delegate, theirs);
    if (value !== undefined && value !== "") request[ours] = value;
  }
  for (const [theirs, ours] of requestLists) {
    if (delegate[theirs] !== undefined && delegate[theirs] !== null)
      request[ours] = listAt(delegate, theirs).map((item) => asText(item, theirs));
  }
  return request;
}
