import type { JsonText } from "../base/brand.ts";
import { appendElements, jsonObject, jsonString, jsonValue } from "../cni/json-text.ts";
import type { DaemonConfig } from "./daemon-config.ts";

export interface ShimConfOptions {
  readonly cniVersion: string;
  /** Defaults to the daemon's `name`, else `levee`. */
  readonly name?: string;
  readonly delegates?: readonly JsonText[];
  readonly clusterNetwork?: string;
}

/** What the shim and the daemon must agree on; the rest of the daemon's settings need not be in the conf. */
export type ShimConfSource = Pick<
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
const ownCapabilities = { "io.kubernetes.cri.pod-annotations": true } as const;

/** The CNI conf with which the runtime starts the shim. */
export function shimConf(config: ShimConfSource, options: ShimConfOptions): string {
  const { name = config.name, clusterNetwork, delegates } = options;
  const members: (readonly [string, JsonText])[] = [
    ["cniVersion", jsonString(options.cniVersion)],
    ["name", jsonString(name === "" ? "levee" : name)],
    ["type", jsonString("levee-shim")],
    ["capabilities", jsonValue({ ...config.capabilities, ...ownCapabilities })],
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

/** Where the socket's folder is on the host: the daemon's pod has the host's /run mounted below /host, as Multus' has. */
export function hostSocketDir(config: Pick<DaemonConfig, "socketDir" | "daemonSocketDir">): string {
  if (config.daemonSocketDir !== undefined) return config.daemonSocketDir;
  return config.socketDir.startsWith("/host/") ? config.socketDir.slice("/host".length) : config.socketDir;
}
