import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { LogLevel } from "../base/log.ts";
import { JsonGrammarError } from "../cni/json-grammar.ts";
import { asJsonText, jsonKind } from "../cni/json-text.ts";
import { readCriticalPods } from "./critical-pods.ts";
import { budgetProblems } from "./time-budgets.ts";
import { readIgnored } from "./ignored-settings.ts";
import { flagKnobs } from "./flag-knobs.ts";
import { numberKnobs, pathKnobs, portKnobs, type NumberKnobKey } from "./knobs.ts";
import { readLogLevel } from "./log-level.ts";
import { readNetSettings, type NetSettings } from "./net-settings.ts";
import type { PodSelector } from "./pod-selector.ts";
import { ConfigError, lineAndColumn } from "./problem.ts";
import { SettingsReader, type Setting } from "./settings-reader.ts";
import { readTracesEndpoint } from "./traces-endpoint.ts";

/** daemon-config.json: Multus' settings and Levee's own, read once at the start. */
export interface DaemonConfig extends NetSettings, Readonly<Record<NumberKnobKey, number>> {
  readonly path: string;
  readonly stateDir: string;
  /** Folder with pods and networks as YAML; undefined in a cluster. */
  readonly directory: string | undefined;
  /** For a daemon that is not a pod of its cluster. */
  readonly kubeconfig: string | undefined;
  readonly kubeletDir: string;
  readonly deviceInfoDir: string;
  readonly runtimeCniDir: string;
  readonly socketDir: string;
  readonly daemonSocketDir: string | undefined;
  /** Where `multus.sock` is served; undefined when off. */
  readonly multusSocketDir: string | undefined;
  /** The ticket of `levee-shim gate check`; undefined when off. */
  readonly gateFile: string | undefined;
  readonly logLevel: LogLevel;
  /** Off when undefined. */
  readonly metricsPort: number | undefined;
  /** On 127.0.0.1; off when undefined. */
  readonly healthPort: number | undefined;
  /** Pods whose ADDs go first, besides those of `systemNamespaces`. */
  readonly criticalPods: readonly PodSelector[];
  /** The whole URL of an OTLP receiver; undefined when traces are off. */
  readonly tracesEndpoint: string | undefined;
  readonly tracesHeadersFile: string | undefined;
  readonly tracesCaFile: string | undefined;
  /** Whether running pods are attached and detached when their annotation changes. */
  readonly hotPlug: boolean;
  /** Whether the claims of devices are told which interface each has become. */
  readonly claimNetworkData: boolean;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly cniConfigDir: string;
  /** `auto`, or the path of a conf to install. */
  readonly multusConfigFile: string;
  readonly multusMasterCNI: string;
  readonly multusAutoconfigDir: string;
  readonly overrideNetworkName: boolean;
  /** Every top-level member as text. They override the conf of each call. */
  readonly rawOverlay: readonly Setting[];
  /** Unknown keys and keys without effect, with the reason. The daemon logs them once. */
  readonly notices: readonly string[];
}

/** Throws a ConfigError (`setting-invalid`) that lists every problem. */
export function parseDaemonConfig(text: string, path: string): DaemonConfig {
  const from = new SettingsReader(parseObject(text, path));
  const notices: string[] = [];
  const own = readOwn(from);
  const config: DaemonConfig = {
    path,
    ...readNetSettings(from),
    ...own,
    ...readGenerator(from),
    ...readPorts(from),
    criticalPods: readCriticalPods(from),
    tracesEndpoint: readTracesEndpoint(from, notices),
    hotPlug: from.flag("hotPlug") ?? flagKnobs.hotPlug.default,
    claimNetworkData: from.flag("claimNetworkData") ?? flagKnobs.claimNetworkData.default,
    kubeconfig: from.path("kubeconfig"),
    logLevel: readLogLevel(from, notices),
    rawOverlay: Object.freeze(from.settings.map((setting) => Object.freeze(setting))),
    notices,
  };
  notices.push(...readIgnored(from));
  // With wrong values the sums would only add noise.
  if (from.problems.length === 0) from.problems.push(...budgetProblems(own));
  if (from.problems.length > 0) throw new ConfigError("setting-invalid", path, from.inFileOrder(from.problems));
  Object.freeze(notices);
  return Object.freeze(config);
}

function parseObject(text: string, path: string): JsonText {
  const json = parseJson(text, path);
  if (jsonKind(json) === "object") return json;
  throw new LeveeError(
    "setting-invalid",
    `Cannot use ${path} as it must hold a JSON object: current value is a JSON ${jsonKind(json)}`,
  );
}

function parseJson(text: string, path: string): JsonText {
  try {
    return asJsonText(text, path);
  } catch (cause) {
    if (!(cause instanceof LeveeError)) throw cause;
    if (!(cause.cause instanceof JsonGrammarError)) throw new LeveeError("setting-invalid", cause.message, { cause });
    const { line, column } = lineAndColumn(text, cause.cause.offset);
    throw new LeveeError(
      "setting-invalid",
      `Cannot read ${path} as JSON: ${cause.cause.message}, at line ${line}, column ${column}`,
      { cause },
    );
  }
}

type OwnSettings = Pick<
  DaemonConfig,
  | NumberKnobKey
  | "stateDir"
  | "directory"
  | "kubeletDir"
  | "deviceInfoDir"
  | "runtimeCniDir"
  | "socketDir"
  | "daemonSocketDir"
  | "multusSocketDir"
  | "gateFile"
  | "tracesHeadersFile"
  | "tracesCaFile"
>;

function readOwn(from: SettingsReader): OwnSettings {
  const keys = Object.keys(numberKnobs) as NumberKnobKey[]; // the table's own keys
  const numbers = keys.map((key) => [key, readNumber(from, key)] as const);
  return {
    ...(Object.fromEntries(numbers) as Record<NumberKnobKey, number>), // one per key of the table
    stateDir: from.path("stateDir", pathKnobs.stateDir.bytesMax) ?? pathKnobs.stateDir.default,
    directory: from.path("directory", pathKnobs.directory.bytesMax),
    kubeletDir: from.path("kubeletDir", pathKnobs.kubeletDir.bytesMax) ?? pathKnobs.kubeletDir.default,
    deviceInfoDir: from.path("deviceInfoDir", pathKnobs.deviceInfoDir.bytesMax) ?? pathKnobs.deviceInfoDir.default,
    runtimeCniDir: from.path("runtimeCniDir", pathKnobs.runtimeCniDir.bytesMax) ?? pathKnobs.runtimeCniDir.default,
    socketDir: from.path("socketDir", pathKnobs.socketDir.bytesMax) ?? pathKnobs.socketDir.default,
    daemonSocketDir: from.path("daemonSocketDir", pathKnobs.daemonSocketDir.bytesMax),
    multusSocketDir: from.path("multusSocketDir", pathKnobs.multusSocketDir.bytesMax),
    gateFile: from.path("gateFile", pathKnobs.gateFile.bytesMax),
    tracesHeadersFile: from.path("tracesHeadersFile", pathKnobs.tracesHeadersFile.bytesMax),
    tracesCaFile: from.path("tracesCaFile", pathKnobs.tracesCaFile.bytesMax),
  };
}

function readNumber(from: SettingsReader, key: NumberKnobKey): number {
  const knob = numberKnobs[key];
  return from.integer(key, knob.min, knob.max, knob.unit === "ms" ? " of milliseconds" : "") ?? knob.default;
}

function readPorts(from: SettingsReader): Pick<DaemonConfig, "metricsPort" | "healthPort"> {
  const { min, max } = portKnobs.healthPort;
  const metricsPort = from.integer("metricsPort", 1, 65_535);
  const healthPort = from.integer("healthPort", min, max);
  // A socket on every interface and one on 127.0.0.1 cannot share a port.
  if (healthPort !== undefined && healthPort === metricsPort)
    from.wrong("healthPort", "set another port than metricsPort, which serves health as well");
  return { metricsPort, healthPort };
}

type GeneratorSettings = Pick<
  DaemonConfig,
  | "capabilities"
  | "cniConfigDir"
  | "multusConfigFile"
  | "multusMasterCNI"
  | "multusAutoconfigDir"
  | "overrideNetworkName"
>;

/** Settings of the conf that Levee generates for the runtime. */
function readGenerator(from: SettingsReader): GeneratorSettings {
  const cniConfigDir = from.path("cniConfigDir") ?? "/etc/cni/net.d";
  return {
    cniConfigDir,
    capabilities: from.flags("capabilities") ?? Object.freeze({}),
    multusConfigFile:
      from.word(
        "multusConfigFile",
        (text) => text === "auto" || text.startsWith("/"),
        'set "auto" or the absolute path of a conf',
      ) ?? "auto",
    multusMasterCNI: from.word("multusMasterCNI", isFileName, "set the name of a file, without a folder") ?? "",
    multusAutoconfigDir: from.path("multusAutoconfigDir") ?? cniConfigDir,
    overrideNetworkName: from.flag("overrideNetworkName") ?? false,
  };
}

function isFileName(text: string): boolean {
  return !text.includes("/") && !text.includes("\0") && text !== "." && text !== "..";
}
