import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { jsonKind, jsonObject, jsonString, exactMember, removeMember, setMember } from "./json-text.ts";
import type { PluginConf } from "./network-conf.ts";

interface StdinOptions {
  /** The network's name and version. A plugin in a list has no name or version of its own. */
  readonly name: string;
  readonly cniVersion: string;
  /** Capability values on offer. A plugin gets the ones that it declares. */
  readonly runtimeConfig?: Readonly<Record<string, JsonText>>;
  /** From the selection element's `cni-args`. They override the configuration's own. */
  readonly cniArgs?: Readonly<Record<string, JsonText>>;
  /** The device that a device plugin gave to this attachment. */
  readonly deviceId?: string;
}

/** A plugin's stdin: its own bytes with our members spliced in. `prevResult` is added for each run. */
export function pluginStdin(plugin: PluginConf, options: StdinOptions): JsonText {
  let text = plainStdin(plugin, options.name, options.cniVersion);
  text = withRuntimeConfig(text, plugin, options.runtimeConfig ?? {});
  text = withCniArgs(text, options.cniArgs, plugin.type);
  return withDevice(text, options.deviceId);
}

/**
 * The part that is the same for all pods of a network, made once. For most pods it is the whole stdin, and their
 * records share it.
 */
const plainStdins = new WeakMap<PluginConf, { name: string; cniVersion: string; text: JsonText }>();

function plainStdin(plugin: PluginConf, name: string, cniVersion: string): JsonText {
  const known = plainStdins.get(plugin);
  if (known?.name === name && known.cniVersion === cniVersion) return known.text;
  let text = setMember(plugin.text, "name", jsonString(name));
  text = setMember(text, "cniVersion", jsonString(cniVersion));
  // Only the runtime reads `capabilities`. Plugins see the values in runtimeConfig.
  text = removeMember(text, "capabilities");
  plainStdins.set(plugin, { name, cniVersion, text });
  return text;
}

/** Adds the result of the previous plugin, or of the whole chain at CHECK and DEL. */
export function withPrevResult(stdin: JsonText, result: JsonText): JsonText {
  return setMember(stdin, "prevResult", result);
}

/** Adds a member of one GC run (`cni.dev/valid-attachments`, `cni.dev/attachments`). */
export function withMember(stdin: JsonText, key: string, value: JsonText): JsonText {
  return setMember(stdin, key, value);
}

function withRuntimeConfig(text: JsonText, plugin: PluginConf, offered: Readonly<Record<string, JsonText>>): JsonText {
  const granted = Object.entries(offered)
    .filter(([capability]) => plugin.capabilities[capability] === true)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return granted.length === 0 ? text : setMember(text, "runtimeConfig", jsonObject(granted));
}

function withCniArgs(text: JsonText, wanted: StdinOptions["cniArgs"], type: string): JsonText {
  if (wanted === undefined) return text;
  const entries = Object.entries(wanted);
  const args = objectMember(text, "args", type);
  const merged = entries.reduce((cni, [key, value]) => setMember(cni, key, value), objectMember(args, "cni", type));
  return setMember(text, "args", setMember(args, "cni", merged));
}

/** The object under `key`, or an empty one. Any other kind of value is an error, because it cannot be merged. */
function objectMember(text: JsonText, key: string, type: string): JsonText {
  const value = exactMember(text, key);
  if (value === undefined || jsonKind(value) === "null") return jsonObject([]);
  if (jsonKind(value) === "object") return value;
  throw new LeveeError(
    "config-invalid",
    `Cannot merge cni-args into plugin ${type}: key "${key}" must be an object: current value is ${value.slice(0, 120)}`,
  );
}

/** Sets two keys, because plugins disagree on the name. */
function withDevice(text: JsonText, deviceId: string | undefined): JsonText {
  if (deviceId === undefined || deviceId === "") return text;
  return setMember(setMember(text, "deviceID", jsonString(deviceId)), "pciBusID", jsonString(deviceId));
}
