import type { JsonText } from "../../base/brand.ts";
import type { Chain } from "../../cni/chain.ts";
import {
  appendElements,
  arrayElements,
  exactMember,
  jsonObject,
  jsonString,
  jsonValue,
  memberText,
  setMember,
} from "../../cni/json-text.ts";
import { withRouteEdit } from "../../cni/route-edit.ts";
import type { AttachmentRecord } from "../journal/attachment-record.ts";
import type { Shape } from "../files/json-shape.ts";

/**
 * The scratch file `<containerID>`: a list of delegates in the shape of Multus v4.2.2, which v4.3.0 and HEAD read as
 * well.
 */
export function scratchFileText(record: AttachmentRecord): string {
  return `[${record.chains.map((chain) => JSON.stringify(delegateOf(chain))).join(",")}]`;
}

/** The file that libcni keeps per network and interface: `results/<network>-<containerID>-<interface>`. */
export function resultFileText(record: AttachmentRecord, position: number): string {
  const chain = record.chains[position];
  if (chain === undefined) return "";
  const capabilities = Object.entries(chain.multus.capabilityArgs).toSorted(([left], [right]) =>
    left < right ? -1 : 1,
  );
  const result = record.results[position];
  return jsonObject([
    ["kind", jsonString("cniCacheV1")],
    ["containerId", jsonString(record.containerId)],
    ["config", base64(bytesOf(chain))],
    ["ifName", jsonString(chain.ifname)],
    ["networkName", jsonString(chain.confName)],
    ...optional(record.netns.path !== "", "netns", () => jsonString(record.netns.path)),
    ...optional(chain.cniArgs !== "", "cniArgs", () => jsonValue(argPairs(chain.cniArgs))),
    ...optional(capabilities.length > 0, "capabilityArgs", () => jsonObject(capabilities)),
    ...(result === undefined ? [] : [["result", withRouteEdit(result, chain.routes)] as const]),
  ]);
}

/** Keys and their order are those of Multus' `DelegateNetConf`. JSON.stringify leaves out `undefined`. */
function delegateOf(chain: Chain): object {
  const { request, isList } = chain.multus;
  const bytes = bytesOf(chain);
  const text = (value: string | undefined): string | undefined => (value === "" ? undefined : value);
  return {
    "Conf": isList ? emptyConf : lossyConf(bytes),
    "ConfList": isList ? lossyList(chain, bytes) : {},
    "CNINetworkConfigList": isList ? losslessList(chain, bytes) : emptyList,
    "Name": chain.network,
    "ifnameRequest": text(request.ifname),
    "macRequest": text(request.mac),
    "infinibandGUIDRequest": text(request.infinibandGuid),
    "ipRequest": request.ips?.length === 0 ? undefined : request.ips,
    "default-route": request.defaultRoute,
    "IsFilterV4Gateway": chain.routes.dropV4,
    "IsFilterV6Gateway": chain.routes.dropV6,
    "deviceID": text(request.deviceId),
    "resourceName": text(request.resourceName),
    "Bytes": toBase64(bytes),
  };
}

const emptyConf = { ipam: {} };
const emptyList = {
  Name: "",
  CNIVersion: "",
  DisableCheck: false,
  DisableGC: false,
  LoadOnlyInlinedPlugins: false,
  Plugins: null,
  Bytes: null,
};

function lossyList(chain: Chain, bytes: JsonText): object {
  return {
    cniVersion: cniVersionOf(bytes) === "" ? undefined : cniVersionOf(bytes),
    name: chain.confName,
    disableCheck: chain.disableCheck || undefined,
    disableGC: chain.disableGC || undefined,
    plugins: pluginsOf(bytes).map(lossyConf),
  };
}

function losslessList(chain: Chain, bytes: JsonText): object {
  return {
    Name: chain.confName,
    CNIVersion: cniVersionOf(bytes),
    DisableCheck: chain.disableCheck,
    DisableGC: chain.disableGC,
    LoadOnlyInlinedPlugins: false,
    Plugins: pluginsOf(bytes).map((plugin) => ({ Network: lossyConf(plugin), Bytes: toBase64(plugin) })),
    Bytes: toBase64(bytes),
  };
}

/** Multus keeps the device and the element's `cni-args` in the configuration, so that its DEL gets them, too. */
const keptKeys = ["deviceID", "pciBusID", "args"];

function bytesOf(chain: Chain): JsonText {
  const { config, isList } = chain.multus;
  if (!isList) return withKept(config, chain.links[0]?.stdin);
  const plugins = pluginsOf(config);
  if (plugins.length !== chain.links.length) return config;
  const enriched = plugins.map((plugin, position) => withKept(plugin, chain.links[position]?.stdin));
  return enriched.every((plugin, position) => plugin === plugins[position])
    ? config
    : setMember(config, "plugins", appendElements(jsonValue([]), enriched));
}

function withKept(plugin: JsonText, stdin: JsonText | undefined): JsonText {
  if (stdin === undefined) return plugin;
  return keptKeys.reduce<JsonText>((text, key) => {
    const value = exactMember(stdin, key);
    return value === undefined || value === exactMember(text, key) ? text : setMember(text, key, value);
  }, plugin);
}

function pluginsOf(list: JsonText): readonly JsonText[] {
  const plugins = exactMember(list, "plugins");
  return plugins === undefined ? [] : arrayElements(plugins);
}

function cniVersionOf(config: JsonText): string {
  const value: unknown = JSON.parse(memberText(config, "cniVersion") ?? "null");
  return typeof value === "string" ? value : "";
}

/** The members of Go's `PluginConf`, with sorted keys. Multus reads them only to see the kind of plugin. */
function lossyConf(plugin: JsonText): object {
  const read = (key: string): unknown => {
    const text = memberText(plugin, key);
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  };
  const [capabilities, dns, ipam] = [read("capabilities"), read("dns"), memberText(plugin, "ipam")];
  const ipamType: unknown = JSON.parse((ipam === undefined ? undefined : memberText(ipam, "type")) ?? "null");
  return {
    capabilities: isObject(capabilities) ? capabilities : undefined,
    cniVersion: read("cniVersion"),
    dns: isObject(dns) && Object.keys(dns).length > 0 ? dns : undefined,
    ipam: typeof ipamType === "string" ? { type: ipamType } : {},
    name: read("name"),
    type: read("type"),
  };
}

function isObject(value: unknown): value is Shape {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function argPairs(cniArgs: string): readonly (readonly [string, string])[] {
  const pairs = cniArgs.split(";").filter((pair) => pair !== "");
  return pairs.map((pair) => {
    const [key = "", ...value] = pair.split("=");
    return [key, value.join("=")];
  });
}

function optional(isPresent: boolean, key: string, value: () => JsonText): readonly (readonly [string, JsonText])[] {
  return isPresent ? [[key, value()]] : [];
}

function base64(text: JsonText): JsonText {
  return jsonString(toBase64(text));
}

function toBase64(text: JsonText): string {
  return Buffer.from(text).toString("base64");
}
