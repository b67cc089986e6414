import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Lab } from "../lab/lab.ts";

/** A network as Multus had attached it. */
export interface MultusNetwork {
  readonly name: string;
  readonly ifname: string;
  /** The plugins' own texts; one without `list` is a single conf. */
  readonly plugins: readonly string[];
  readonly isList: boolean;
  readonly cniVersion: string;
  readonly result: string;
  readonly capabilityArgs?: string;
  /** The device that the scratch file names beside the configuration. */
  readonly deviceID?: string;
}

export type MultusVersion = "v4.2.2" | "v4.3.0" | "newest";

/** Writes a container's scratch and result files as that version of Multus leaves them. */
export async function writeMultusCache(
  lab: Lab,
  version: MultusVersion,
  container: { readonly id: string; readonly netns: string; readonly networks: readonly MultusNetwork[] },
): Promise<void> {
  await mkdir(join(lab.cniDir, "results"), { recursive: true });
  const elements = container.networks.map((network) => element(network, version));
  await writeFile(join(lab.cniDir, container.id), `[${elements.join(",")}]`);
  for (const network of container.networks) {
    await writeFile(
      join(lab.cniDir, "results", `${network.name}-${container.id}-${network.ifname}`),
      resultFile(network, container),
    );
  }
}

function element(network: MultusNetwork, version: MultusVersion): string {
  const { name, cniVersion, plugins, isList } = network;
  const lossy = plugins.map((plugin) => lossyPlugin(plugin));
  const whole = wholeConf(network);
  // v4.2.1 to v4.3.0 kept only what their own structure knew; the lossless texts stood beside it.
  const bytes = isList && version !== "newest" ? JSON.stringify({ cniVersion, name, plugins: lossy }) : whole;
  const own = plugins.map((plugin, index) => ({ Network: lossy[index], Bytes: base64(plugin) }));
  const flags = { DisableCheck: false, DisableGC: false, LoadOnlyInlinedPlugins: false };
  const list = isList
    ? { Name: name, CNIVersion: cniVersion, ...flags, Plugins: own, Bytes: base64(whole) }
    : { Name: "", CNIVersion: "", ...flags, Plugins: null, Bytes: null };
  return JSON.stringify({
    Conf: isList ? { ipam: {} } : { ...lossy[0], name, cniVersion },
    ConfList: isList ? { cniVersion, name, plugins: lossy } : {},
    ...(version === "newest" ? {} : { CNINetworkConfigList: list }),
    Name: network.ifname === "eth0" ? name : `default/${name}`,
    IsFilterV4Gateway: false,
    IsFilterV6Gateway: false,
    ...(network.deviceID === undefined ? {} : { deviceID: network.deviceID }),
    Bytes: base64(bytes),
  });
}

function lossyPlugin(text: string): Record<string, unknown> {
  const { type, capabilities } = JSON.parse(text) as Record<string, unknown>;
  return { ...(capabilities === undefined ? {} : { capabilities }), ipam: {}, type };
}

function wholeConf({ name, cniVersion, plugins, isList }: MultusNetwork): string {
  if (isList) return `{"cniVersion":"${cniVersion}","name":"${name}","x-list":1.0,"plugins":[${plugins.join(",")}]}`;
  return (plugins[0] ?? "{}").replace(/^\{/, `{"cniVersion":"${cniVersion}","name":"${name}",`);
}

function resultFile(network: MultusNetwork, container: { readonly id: string; readonly netns: string }): string {
  const args = JSON.stringify([
    ["IgnoreUnknown", "true"],
    ["K8S_POD_NAMESPACE", "default"],
    ["K8S_POD_NAME", "web"],
    ["K8S_POD_INFRA_CONTAINER_ID", container.id],
    ["K8S_POD_UID", "uid-7"],
  ]);
  const capabilities = network.capabilityArgs === undefined ? "" : `"capabilityArgs":${network.capabilityArgs},`;
  return `{"kind":"cniCacheV1","containerId":"${container.id}","config":"${base64(wholeConf(network))}","ifName":"${network.ifname}","networkName":"${network.name}","netns":"${container.netns}","cniArgs":${args},${capabilities}"result":${network.result}}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
