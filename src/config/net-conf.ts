import type { ContainerId, IfName, JsonText } from "../base/brand.ts";
import { foldKey, jsonKind, jsonObject } from "../cni/json-text.ts";
import type { DaemonConfig } from "./daemon-config.ts";
import { multusKeys, type MultusKey } from "./multus-keys.ts";
import { readNetSettings, type NetSettings } from "./net-settings.ts";
import { ConfigError, shorten } from "./problem.ts";
import { SettingsReader, type Setting } from "./settings-reader.ts";

/** The configuration one call is served with. */
export interface NetConf extends NetSettings {
  /** The cniVersion on stdin, which the runtime expects in the answer; `cniVersion` may be the daemon's own. */
  readonly callVersion: string;
  /** What GC may not detach; undefined when the call gives no list, which is not an empty one. */
  readonly validAttachments: readonly ValidAttachment[] | undefined;
  readonly prevResult: JsonText | undefined;
  /** The whole of it. */
  readonly text: JsonText;
}

export interface ValidAttachment {
  readonly containerID: ContainerId;
  readonly ifname: IfName;
}

/**
 * The conf on stdin, overlaid by every top-level key of daemon-config.json: the daemon wins, whole values, as with Multus.
 * Put together as text, so that no number and no unknown key changes. Throws a ConfigError (`config-invalid`) with every problem.
 */
export function effectiveNetConf(stdin: JsonText, config: DaemonConfig): NetConf {
  const [known] = lastConf;
  if (known?.stdin === stdin && known.config === config) return known.conf;
  const conf = readNetConf(stdin, config);
  // A text that no other call will have, such as one with a result in it, is not worth the memory.
  if (stdin.length <= lastConfCharsMax) lastConf[0] = { stdin, config, conf };
  return conf;
}

/** A runtime gives the same text with every pod, as a rule. */
const lastConf: [{ readonly stdin: JsonText; readonly config: DaemonConfig; readonly conf: NetConf }?] = [];
const lastConfCharsMax = 8_192;

function readNetConf(stdin: JsonText, config: DaemonConfig): NetConf {
  if (jsonKind(stdin) !== "object") {
    throw new ConfigError("config-invalid", "the configuration on stdin", [
      { key: "the whole", seen: shorten(stdin), remedy: "give a JSON object" },
    ]);
  }
  const call = new SettingsReader(stdin);
  const settings = overlay(call.settings, config.rawOverlay);
  const from = new SettingsReader(settings);
  const conf: NetConf = {
    ...readNetSettings(from),
    callVersion: call.string("cniVersion") ?? "",
    validAttachments:
      readAttachments(from, "cni.dev/valid-attachments") ?? readAttachments(from, "cni.dev/attachments"),
    prevResult: from.object("prevResult"),
    // Few ask for it, and every ADD comes by here.
    get text() {
      return jsonObject(settings.map(({ key, value }) => [key, value]));
    },
  };
  const problems = [
    ...from.problems,
    ...call.problems.filter((problem) => !from.problems.some(({ key }) => key === problem.key)),
  ];
  if (problems.length > 0)
    throw new ConfigError(
      "config-invalid",
      "the configuration on stdin with that of the daemon laid over it",
      problems,
    );
  return Object.freeze(conf);
}

function overlay(call: readonly Setting[], daemon: readonly Setting[]): readonly Setting[] {
  const settings = new Map(call.map((setting) => [foldKey(setting.key), setting]));
  for (const setting of daemon) if (!isPerCall.has(foldKey(setting.key))) settings.set(foldKey(setting.key), setting);
  return [...settings.values()];
}

/** A fixed list of valid attachments would have GC detach every other pod, so these keys are the call's alone. */
const isPerCall: ReadonlySet<string> = new Set(
  Object.entries<MultusKey>(multusKeys)
    .filter(([, row]) => row.use === "per-call")
    .map(([key]) => foldKey(key)),
);

/** An entry that cannot be read is a problem, never left out: what is not on the list is detached. */
function readAttachments(from: SettingsReader, key: string): readonly ValidAttachment[] | undefined {
  return from.objects(key)?.map((text, index) => {
    const item = new SettingsReader(text);
    const containerID = item.string("containerID") ?? "";
    const ifname = item.string("ifname") ?? "";
    if (containerID === "" || ifname === "") {
      from.problems.push({
        key: `${key}[${index}]`,
        seen: shorten(text),
        remedy: "give containerID and ifname, both strings",
      });
    }
    // Compared with the journal's own, never used as a path or a name.
    return { containerID: containerID as ContainerId, ifname: ifname as IfName };
  });
}
