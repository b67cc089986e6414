import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { aFolder } from "../journal/record.fixture.ts";

/** The files of Multus, written by hand from its sources. */
export const sandbox = "8f0c2d7a4b1e";

/**
 * The operator's text, with everything that re-encoding would change: unknown keys, 2^53 + 1, a duplicate, `1500.0`.
 */
export const calico =
  '{"type":"calico","server_socket":"/run/x.sock","big":9007199254740993,"mtu":1500.0,"k":1,"k":2,"ipam":{"type":"calico-ipam","subnet":"usePodCidr"},"capabilities":{"bandwidth":true}}';
export const portmap = '{"type":"portmap","snat":true,"capabilities":{"portMappings":true}}';
export const clusterList = `{"name":"k8s-pod-network","cniVersion":"0.3.1","unknown":{"a":1},"plugins":[${calico},${portmap}]}`;
/** The same as v4.2.1 to v4.3.0 write it into `Bytes`. */
const lossyList =
  '{"cniVersion":"0.3.1","name":"k8s-pod-network","plugins":[{"capabilities":{"bandwidth":true},"ipam":{"type":"calico-ipam"},"type":"calico"},{"capabilities":{"portMappings":true},"ipam":{},"type":"portmap"}]}';
export const lan =
  '{"cniVersion":"1.0.0","name":"lan","type":"macvlan","master":"eth1","ipam":{"type":"host-local"},"id":18446744073709551615}';

export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

const emptyList =
  '{"Name":"","CNIVersion":"","DisableCheck":false,"DisableGC":false,"LoadOnlyInlinedPlugins":false,"Plugins":null,"Bytes":null}';
const lossyCalico = '{"capabilities":{"bandwidth":true},"ipam":{"type":"calico-ipam"},"type":"calico"}';
const lossyPortmap = '{"capabilities":{"portMappings":true},"ipam":{},"type":"portmap"}';

const lossyConfList = `{"cniVersion":"0.3.1","name":"k8s-pod-network","plugins":[${lossyCalico},${lossyPortmap}]}`;

export const clusterElement = `{"Conf":{"ipam":{}},"ConfList":${lossyConfList},"CNINetworkConfigList":{"Name":"k8s-pod-network","CNIVersion":"0.3.1","DisableCheck":false,"DisableGC":false,"LoadOnlyInlinedPlugins":false,"Plugins":[{"Network":${lossyCalico},"Bytes":"${base64(calico)}"},{"Network":${lossyPortmap},"Bytes":"${base64(portmap)}"}],"Bytes":"${base64(clusterList)}"},"Name":"k8s-pod-network","IsFilterV4Gateway":false,"IsFilterV6Gateway":false,"Bytes":"${base64(lossyList)}"}`;

/** HEAD no longer writes the list separately: `Bytes` itself is lossless. */
export const clusterElementHead = `{"Conf":{"ipam":{}},"ConfList":${lossyConfList},"Name":"k8s-pod-network","IsFilterV4Gateway":false,"IsFilterV6Gateway":false,"Bytes":"${base64(clusterList)}"}`;

const lanConf = '{"cniVersion":"1.0.0","ipam":{"type":"host-local"},"name":"lan","type":"macvlan"}';

export const lanElement = `{"Conf":${lanConf},"ConfList":{},"CNINetworkConfigList":${emptyList},"Name":"default/lan","macRequest":"02:00:00:00:00:07","ipRequest":["10.9.0.7/24"],"default-route":["10.9.0.1"],"IsFilterV4Gateway":false,"IsFilterV6Gateway":true,"Bytes":"${base64(lan)}"}`;

const podArgsJson =
  '[["IgnoreUnknown","true"],["K8S_POD_NAMESPACE","shop"],["K8S_POD_NAME","cart-0"],["K8S_POD_INFRA_CONTAINER_ID","8f0c2d7a4b1e"],["K8S_POD_UID","uid-7"]]';

export const clusterResult =
  '{"cniVersion":"0.3.1","ips":[{"address":"10.1.0.9/32","version":"4"}],"dns":{},"serial":9007199254740993}';
export const lanResult =
  '{"cniVersion":"1.0.0","ips":[{"address":"10.9.0.7/24"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.9.0.1"}],"dns":{}}';

export const resultFiles: Readonly<Record<string, string>> = {
  [`k8s-pod-network-${sandbox}-eth0`]: `{"kind":"cniCacheV1","containerId":"${sandbox}","config":"${base64(clusterList)}","ifName":"eth0","networkName":"k8s-pod-network","netns":"/var/run/netns/cni-1","cniArgs":${podArgsJson},"capabilityArgs":{"portMappings":[{"hostPort":80}],"bandwidth":{"ingressRate":9007199254740993}},"result":${clusterResult}}`,
  // Rewritten by Multus after a gateway change: keys sorted.
  [`lan-${sandbox}-net1`]: `{"capabilityArgs":{"mac":"02:00:00:00:00:07"},"cniArgs":${podArgsJson.slice(0, -1)},["MAC","02:00:00:00:00:07"],["IP","10.9.0.7/24"]],"config":"${base64(lan)}","containerId":"${sandbox}","ifName":"net1","kind":"cniCacheV1","netns":"/var/run/netns/cni-1","networkName":"lan","result":${lanResult}}`,
};

/** A cache folder with these scratch files and results. */
export async function aCache(
  scratch: Readonly<Record<string, string>>,
  results: Readonly<Record<string, string>> = {},
): Promise<string> {
  const cniDir = await aFolder();
  await mkdir(join(cniDir, "results"));
  for (const [name, text] of Object.entries(scratch)) await writeFile(join(cniDir, name), text);
  for (const [name, text] of Object.entries(results)) await writeFile(join(cniDir, "results", name), text);
  return cniDir;
}
