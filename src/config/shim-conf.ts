import type { JsonText } from "../base/brand.ts";
import { appendElements, jsonObject, jsonString, jsonValue } from "../cni/json-text.ts";
import type { DaemonConfig } from "./daemon-config.ts";

export interface ShimConfOptions {
  readonly cniVersion: string;
  /** Defaults to the daemon's `name`, else `levee`. */
  readonly name?: string;
  readonly delegates?: readonly JsonText[];
  readonly clusterNetwork?: string;
  /** Those that the primary network's plugins declare. */
  readonly capabilities?: readonly string[];
}

/** Sorts before `00-multus.conf` and before every primary network's conf. */
export const confFileName = "00-levee.conf";

/** Below the conf directory, for files on their way into it: runtimes watch the directory itself, not what is below it. */
export const confWorkFolder = ".levee";

export const shimType = "levee-shim";

/** Types that end in a daemon like ours: none of them can be the network that such a daemon attaches first. */
const metaTypes: ReadonlySet<string> = new Set([shimType, "multus-shim", "multus"]);

export function isMetaType(type: string): boolean {
  return metaTypes.has(type);
}

/** What the shim and the daemon must agree on; the rest of the daemon's settings need not be in the conf. */
type ShimConfSource = Pick<
  DaemonConfig,
  | "name"
  | "capabilities"
  | "socketDir"
  | "daemonSocketDir"
  | "stateDir"
  | "addBudgetMs"
  | "delBudgetMs"
  | "delPatienceMs"
>;

/** The runtime hands over the pod's annotations with the call, so that an ADD need not wait for a watch. */
const ownCapability = "io.kubernetes.cri.pod-annotations";

/** The CNI conf with which the runtime starts the shim. */
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
  ];
  if (clusterNetwork !== undefined) members.push(["clusterNetwork", jsonString(clusterNetwork)]);
  // As they are: a delegate's configuration is never parsed and printed again.
  if (delegates !== undefined) members.push(["delegates", appendElements(jsonValue([]), delegates)]);
  return jsonObject(members);
}

/** In the order of their names, so that the same capabilities are the same text. */
function capabilitiesOf(config: ShimConfSource, ofPrimary: readonly string[]): Record<string, true> {
  const configured = Object.entries(config.capabilities).flatMap(([name, isOn]) => (isOn ? [name] : []));
  const names = new Set([...configured, ...ofPrimary, ownCapability]);
  return Object.fromEntries([...names].toSorted().map((name) => [name, true]));
}

/** Where the socket's folder is on the host: the daemon's pod has the host's /run mounted below /host, as Multus' has. */
export function hostSocketDir(config: Pick<DaemonConfig, "socketDir" | "daemonSocketDir">): string {
  if (config.daemonSocketDir !== undefined) return config.daemonSocketDir;
  return config.socketDir.startsWith("/host/") ? config.socketDir.slice("/host".length) : config.socketDir;
}
