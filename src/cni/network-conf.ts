import type { JsonText, PluginType } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { chooseVersion, requireVersion } from "./cni-version.ts";
import {
  appendElements,
  arrayElements,
  exactMember,
  jsonKind,
  jsonObject,
  jsonString,
  jsonValue,
  memberText,
  scanObject,
  setMember,
} from "./json-text.ts";

/** A network's configuration, conf or conflist: the members that Levee reads, and the whole text. */
export interface NetworkConf {
  readonly name: string;
  readonly cniVersion: string;
  readonly disableCheck: boolean;
  readonly disableGC: boolean;
  readonly loadOnlyInlinedPlugins: boolean;
  /** Whether it is a conflist (`plugins`) and not a conf (`type`). */
  readonly isList: boolean;
  /** As loaded, with `name` added when it had none. */
  readonly text: JsonText;
  readonly plugins: readonly PluginConf[];
}

export interface PluginConf {
  readonly type: PluginType;
  /** The plugin's own bytes. */
  readonly text: JsonText;
  readonly capabilities: Readonly<Record<string, boolean>>;
}

interface ConfOptions {
  /** Names the configuration in errors: a file, or `NetworkAttachmentDefinition a/b`. */
  readonly what: string;
  /** Takes the place of a missing or empty `name`. */
  readonly defaultName?: string;
  /** Takes the place of a missing or empty `cniVersion`. */
  readonly defaultCniVersion?: string;
  /** Whether a list may lack `plugins`, because a sub-directory can hold them. */
  readonly mayLackPlugins?: boolean;
}

/**
 * The case of keys matters as much as in Multus: libcni reads a conf and each plugin into a struct, where it does not,
 * and the top of a list into a map, where it does.
 */
export function parseNetworkConf(original: JsonText, options: ConfOptions): NetworkConf {
  const { what } = options;
  if (jsonKind(original) !== "object") throw invalid(what, "it must be an object", original);
  const text = withName(original, options);
  const type = optionalString(memberText(text, "type"), "type", what);
  const isList = type === undefined || type === "";
  const read = isList ? exactMember : memberText;
  const name = requireName(optionalString(read(text, "name"), "name", what) ?? "", what);
  const loadOnlyInlinedPlugins = flag(text, "loadOnlyInlinedPlugins", what);
  return {
    name,
    cniVersion: versionOf(text, read, options),
    disableCheck: flag(text, "disableCheck", what),
    disableGC: flag(text, "disableGC", what),
    loadOnlyInlinedPlugins,
    isList,
    text,
    plugins: isList ? pluginsOf(text, options, loadOnlyInlinedPlugins) : [parsePlugin(text, what)],
  };
}

/** Adds plugins from the sub-directory with the network's name, as libcni 1.3 does. */
export function appendPlugins(
  conf: NetworkConf,
  added: readonly JsonText[],
  what: string = `network ${conf.name}`,
): NetworkConf {
  if (added.length === 0) return conf;
  if (!conf.isList)
    throw new LeveeError("config-invalid", `Cannot append plugins to ${what}: it is a single conf, not a list`);
  const plugins = added.map((text, index) => parsePlugin(text, `plugin ${index} of the sub-directory of ${what}`));
  const inlined = exactMember(conf.text, "plugins") ?? jsonValue([]);
  return {
    ...conf,
    plugins: [...conf.plugins, ...plugins],
    text: setMember(conf.text, "plugins", appendElements(inlined, added)),
  };
}

/** Reads `type` and `capabilities` of one plugin's object and keeps the rest as text. */
export function parsePlugin(text: JsonText, what: string): PluginConf {
  if (jsonKind(text) !== "object") throw invalid(what, "it must be an object", text);
  const type = optionalString(memberText(text, "type"), "type", what) ?? "";
  if (type === "") throw invalid(what, 'key "type" must name the plugin', memberText(text, "type"));
  if (!isPluginType(type)) throw invalid(what, "key \"type\" must be a file name without '/'", jsonString(type));
  return { type, text, capabilities: capabilitiesOf(text, what) };
}

/** A `type` is looked up in CNI_PATH and executed as root, so it must be a name, never a path. */
export function isPluginType(type: string): type is PluginType {
  return (
    type !== "" && type !== "." && type !== ".." && !/[/\p{Cc}]/u.test(type) && Buffer.byteLength(type, "utf8") <= 255
  );
}

/** OpenShift Virtualization ships the bridge plugin under a second name. */
export function isBridgeType(type: string): boolean {
  return type === "bridge" || type === "cnv-bridge";
}

/** The rule of the CNI specification: IPAM plugins and caches use the name in file names. */
const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

export function isNetworkName(name: string): boolean {
  return namePattern.test(name) && name.length <= 253;
}

function requireName(name: string, what: string): string {
  if (name === "") throw invalid(what, 'key "name" must name the network', undefined);
  if (!isNetworkName(name)) {
    throw invalid(
      what,
      "key \"name\" must be letters, digits, '_', '.' and '-', start with a letter or digit and have at most 253 characters",
      jsonString(name),
    );
  }
  return name;
}

/** Like Multus, it looks for exactly `name`. Go reads the added one, because it is behind a `"Name"`. */
function withName(text: JsonText, options: ConfOptions): JsonText {
  const name = optionalString(exactMember(text, "name"), "name", options.what);
  if (options.defaultName === undefined || (name !== undefined && name !== "")) return text;
  return setMember(text, "name", jsonString(options.defaultName));
}

function versionOf(text: JsonText, read: typeof exactMember, options: ConfOptions): string {
  const single = optionalString(read(text, "cniVersion"), "cniVersion", options.what) ?? "";
  const several = read(text, "cniVersions");
  if (several !== undefined && jsonKind(several) !== "null") {
    return chooseVersion(
      [...(single === "" ? [] : [single]), ...stringsOf(several, "cniVersions", options.what)],
      options.what,
    );
  }
  return requireVersion(single === "" ? (options.defaultCniVersion ?? "") : single, options.what);
}

function pluginsOf(text: JsonText, options: ConfOptions, isOnlyInlined: boolean): PluginConf[] {
  const { what } = options;
  const list = exactMember(text, "plugins");
  if (list === undefined) {
    if (options.mayLackPlugins === true && !isOnlyInlined) return [];
    // The words of Multus, because people search for them.
    throw invalid(what, "LoadDelegateNetConfList: delegate must have the 'type' or 'plugin' field", undefined);
  }
  if (jsonKind(list) !== "array") throw invalid(what, 'key "plugins" must be an array', list);
  const elements = arrayElements(list);
  if (elements.length === 0) throw invalid(what, 'key "plugins" must have at least one plugin', list);
  return elements.map((element, index) => parsePlugin(element, `plugin ${index} of ${what}`));
}

function capabilitiesOf(text: JsonText, what: string): Record<string, boolean> {
  const object = memberText(text, "capabilities");
  if (object === undefined || jsonKind(object) === "null") return {};
  if (jsonKind(object) !== "object") throw invalid(what, 'key "capabilities" must be an object', object);
  // The prototype is null because a capability may be called "constructor".
  const capabilities = Object.create(null) as Record<string, boolean>;
  for (const member of scanObject(object)) {
    const value = object.slice(member.valueStart, member.valueEnd);
    if (value !== "true" && value !== "false") {
      throw invalid(what, `key "capabilities.${member.key}" must be true or false`, value);
    }
    capabilities[member.key] = value === "true";
  }
  return capabilities;
}

/** Like libcni, it also accepts the strings `"true"` and `"False"`. */
function flag(text: JsonText, key: string, what: string): boolean {
  const value = exactMember(text, key);
  if (value === undefined) return false;
  const word = jsonKind(value) === "string" ? String(JSON.parse(value)).toLowerCase() : value;
  if (word !== "true" && word !== "false") throw invalid(what, `key "${key}" must be true or false`, value);
  return word === "true";
}

function optionalString(value: JsonText | undefined, key: string, what: string): string | undefined {
  if (value === undefined || jsonKind(value) === "null") return undefined;
  if (jsonKind(value) !== "string") throw invalid(what, `key "${key}" must be a string`, value);
  return String(JSON.parse(value));
}

function stringsOf(list: JsonText, key: string, what: string): string[] {
  if (jsonKind(list) !== "array") throw invalid(what, `key "${key}" must be an array of strings`, list);
  return arrayElements(list).map((element) => {
    if (jsonKind(element) !== "string") throw invalid(what, `key "${key}" must be an array of strings`, list);
    return String(JSON.parse(element));
  });
}

function invalid(what: string, rule: string, value: string | undefined): LeveeError {
  const seen =
    value === undefined
      ? "it is missing"
      : `current value is ${value.length > 120 ? `${value.slice(0, 120)}…` : value}`;
  return new LeveeError("config-invalid", `Cannot use ${what}: ${rule}: ${seen}`);
}

/** A conflist that Levee builds itself, such as the auxiliary chain. */
export function confListText(name: string, cniVersion: string, plugins: readonly JsonText[]): JsonText {
  const list = appendElements(jsonValue([]), plugins);
  return jsonObject([
    ["cniVersion", jsonString(cniVersion)],
    ["name", jsonString(name)],
    ["plugins", list],
  ]);
}
