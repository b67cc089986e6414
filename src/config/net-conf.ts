import type { ContainerId, IfName, JsonText } from "../base/brand.ts";
import { foldKey } from "../cni/fold-key.ts";
import { jsonKind, jsonObject } from "../cni/json-text.ts";
import type { DaemonConfig } from "./daemon-config.ts";
import { multusKeys, type MultusKey } from "./multus-keys.ts";
import { readNetSettings, type NetSettings } from "./net-settings.ts";
import { ConfigError, shorten } from "./problem.ts";
import { SettingsReader, type Setting } from "./settings-reader.ts";

/** The configuration of one call. */
export interface NetConf extends NetSettings {
  /** The cniVersion on stdin, which the runtime expects in the reply. `cniVersion` may be the daemon's own. */
  readonly callVersion: string;
  /** Attachments that GC must keep; undefined without a list, which differs from an empty list. */
  readonly validAttachments: readonly ValidAttachment[] | undefined;
  readonly prevResult: JsonText | undefined;
  /** The whole configuration. */
  readonly text: JsonText;
}

export interface ValidAttachment {
  readonly containerID: ContainerId;
  readonly ifname: IfName;
}

/**
 * The conf on stdin with the top-level keys of daemon-config.json laid over it. As in Multus, the daemon's whole value
 * wins. It is merged as text, so that no number and no unknown key changes. Throws a ConfigError (`config-invalid`)
 * with every problem.
 */
export function effectiveNetConf(stdin: JsonText, config: DaemonConfig): NetConf {
  const [known] = lastConf;
  if (known?.stdin === stdin && known.config === config) return known.conf;
  const conf = readNetConf(stdin, config);
  // A long text has a result in it, so no other call will have the same.
  if (stdin.length <= lastConfCharsMax) lastConf[0] = { stdin, config, conf };
  return conf;
}

/** Most runtimes send the same text with every pod. */
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
    // Computed on demand, because few callers need it and every ADD comes by here.
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

/** With a fixed list of valid attachments GC would undo every other pod, so only the call may set these keys. */
const isPerCall: ReadonlySet<string> = new Set(
  Object.entries<MultusKey>(multusKeys)
    .filter(([, row]) => row.use === "per-call")
    .map(([key]) => foldKey(key)),
);

/**
 * An unreadable entry is an error and is never left out, because GC undoes every attachment that is not on the list.
 */
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
    // Only compared with the journal's values, never used as a path or a name.
    return { containerID: containerID as ContainerId, ifname: ifname as IfName };
  });
}
