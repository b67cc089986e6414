import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { jsonKind, jsonObject, jsonString, memberText, removeMember, setMember } from "./json-text.ts";
import type { PluginConf } from "./network-conf.ts";

interface StdinOptions {
  /** The network's name and version: a plugin of a list has neither of its own. */
  readonly name: string;
  readonly cniVersion: string;
  /** Capability values on offer; a plugin gets those it declares. */
  readonly runtimeConfig?: Readonly<Record<string, JsonText>>;
  /** From the selection element's `cni-args`; wins over the configuration's own. */
  readonly cniArgs?: Readonly<Record<string, JsonText>>;
  /** The device given to this attachment by a device plugin. */
  readonly deviceId?: string;
}

/** What a plugin gets on stdin: its own bytes with our members spliced in. `prevResult` comes later, per run. */
export function pluginStdin(plugin: PluginConf, options: StdinOptions): JsonText {
  let text = plainStdin(plugin, options.name, options.cniVersion);
  text = withRuntimeConfig(text, plugin, options.runtimeConfig ?? {});
  text = withCniArgs(text, options.cniArgs ?? {}, plugin.type);
  return withDevice(text, options.deviceId);
}

/** What all pods of a network have in common is made once: for most that is everything, and their records share it. */
const plainStdins = new WeakMap<PluginConf, { name: string; cniVersion: string; text: JsonText }>();

function plainStdin(plugin: PluginConf, name: string, cniVersion: string): JsonText {
  const known = plainStdins.get(plugin);
  if (known?.name === name && known.cniVersion === cniVersion) return known.text;
  let text = setMember(plugin.text, "name", jsonString(name));
  text = setMember(text, "cniVersion", jsonString(cniVersion));
  // For the runtime's eyes only; plugins see what came of it in runtimeConfig.
  text = removeMember(text, "capabilities");
  plainStdins.set(plugin, { name, cniVersion, text });
  return text;
}

/** The stdin of one run: the result of the plugin before it, or at CHECK and DEL of the whole chain. */
export function withPrevResult(stdin: JsonText, result: JsonText): JsonText {
  return setMember(stdin, "prevResult", result);
}

/** For GC, whose members (`cni.dev/valid-attachments`, `cni.dev/attachments`) belong to the run, not to the network. */
export function withMember(stdin: JsonText, key: string, value: JsonText): JsonText {
  return setMember(stdin, key, value);
}

function withRuntimeConfig(text: JsonText, plugin: PluginConf, offered: Readonly<Record<string, JsonText>>): JsonText {
  const granted = Object.entries(offered)
    .filter(([capability]) => plugin.capabilities[capability] === true)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return granted.length === 0 ? text : setMember(text, "runtimeConfig", jsonObject(granted));
}

function withCniArgs(text: JsonText, wanted: Readonly<Record<string, JsonText>>, type: string): JsonText {
  const entries = Object.entries(wanted);
  if (entries.length === 0) return text;
  const args = objectMember(text, "args", type);
  const merged = entries.reduce((cni, [key, value]) => setMember(cni, key, value), objectMember(args, "cni", type));
  return setMember(text, "args", setMember(args, "cni", merged));
}

/** The object under `key`, an empty one when there is none. Anything else cannot be merged with. */
function objectMember(text: JsonText, key: string, type: string): JsonText {
  const value = memberText(text, key);
  if (value === undefined || jsonKind(value) === "null") return jsonObject([]);
  if (jsonKind(value) === "object") return value;
  throw new LeveeError(
    "config-invalid",
    `Cannot merge cni-args into plugin ${type}: key "${key}" must be an object: current value is ${value.slice(0, 120)}`,
  );
}

/** Two keys, because plugins disagree on the name. */
function withDevice(text: JsonText, deviceId: string | undefined): JsonText {
  if (deviceId === undefined || deviceId === "") return text;
  return setMember(setMember(text, "deviceID", jsonString(deviceId)), "pciBusID", jsonString(deviceId));
}
