import type { JsonText } from "../base/brand.ts";
import { appendElements, jsonObject, jsonString, jsonValue } from "../cni/json-text.ts";
import type { DaemonConfig } from "./daemon-config.ts";

export interface ShimConfOptions {
  readonly cniVersion: string;
  /** Defaults to the daemon's `name`, else `levee`. */
  readonly name?: string;
  readonly delegates?: readonly JsonText[];
  readonly clusterNetwork?: string;
  /** Capabilities that the primary network's plugins declare. */
  readonly capabilities?: readonly string[];
}

/** Sorts before `00-multus.conf` and before every primary network's conf. */
export const confFileName = "00-levee.conf";

/**
 * Temporary files go below the conf directory, because runtimes watch the directory itself and not its sub-directories.
 */
export const confWorkFolder = ".levee";

export const shimType = "levee-shim";

/** Shims of meta-CNI daemons. None of them can be the primary network of such a daemon. */
const metaTypes: ReadonlySet<string> = new Set([shimType, "multus-shim", "multus"]);

export function isMetaType(type: string): boolean {
  return metaTypes.has(type);
}

/** Settings on which the shim and the daemon must agree. The daemon's other settings are not in the conf. */
type ShimConfSource = Pick<
  DaemonConfig,
  | "name"
  | "capabilities"
  | "socketDir"
  | "daemonSocketDir"
  | "stateDir"
  | "addBudgetMs"
  | "addUndoMs"
  | "delBudgetMs"
  | "delPatienceMs"
>;

/** With this capability the runtime sends the pod's annotations with the call, so an ADD need not wait for a watch. */
const ownCapability = "io.kubernetes.cri.pod-annotations";

/** The conf for the runtime that names the shim. */
export function shimConf(config: ShimConfSource, options: ShimConfOptions): string {
  const { name = config.name, clusterNetwork, delegates } = options;
  const members: (readonly [string, JsonText])[] = [
    ["cniVersion", jsonString(options.cniVersion)],
    ["name", jsonString(name === "" ? "levee" : name)],
    ["type", jsonString(shimType)],
    ["capabilities", jsonValue(capabilitiesOf(config, options.capabilities ?? []))],
    ["daemonSocketDir", jsonString(hostSocketDir(config))],
    ["stateDir", jsonString(config.stateDir)],
    ["addBudgetMs", jsonValue(config.addBudgetMs)],
    ["delBudgetMs", jsonValue(config.delBudgetMs)],
    ["delPatienceMs", jsonValue(config.delPatienceMs)],
    ["addUndoMs", jsonValue(config.addUndoMs)],
  ];
  if (clusterNetwork !== undefined) members.push(["clusterNetwork", jsonString(clusterNetwork)]);
  // A plugin's configuration is never parsed and printed again.
  if (delegates !== undefined) members.push(["delegates", appendElements(jsonValue([]), delegates)]);
  return jsonObject(members);
}

/** Sorted by name, so that the same capabilities give the same text. */
function capabilitiesOf(config: ShimConfSource, ofPrimary: readonly string[]): Record<string, true> {
  const configured = Object.entries(config.capabilities).flatMap(([name, isOn]) => (isOn ? [name] : []));
  const names = new Set([...configured, ...ofPrimary, ownCapability]);
  return Object.fromEntries([...names].toSorted().map((name) => [name, true]));
}

/** The socket's folder on the host. The daemon's pod mounts the host's /run below /host, as Multus' pod does. */
export function hostSocketDir(config: Pick<DaemonConfig, "socketDir" | "daemonSocketDir">): string {
  if (config.daemonSocketDir !== undefined) return config.daemonSocketDir;
  return config.socketDir.startsWith("/host/") ? config.socketDir.slice("/host".length) : config.socketDir;
}
