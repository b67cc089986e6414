import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Api, KubeObject } from "../api.ts";
import { nodeName } from "../machine.ts";
import { applyAll, objectsOf } from "../manifests.ts";
import { confFolder, hostInterfaces } from "../networks.ts";
import type { ClusterNode } from "../node/cluster-node.ts";
import { installRecorded } from "../recorder.ts";
import { until } from "../until.ts";
import { writeKubeconfig } from "./kubeconfig.ts";

export const calicoKubeconfig = join(confFolder, "calico-kubeconfig");
const group = "/apis/crd.projectcalico.org/v1";
const account = { namespace: "kube-system", name: "calico-cni-plugin" };
/** Of its manifest: everything but the pods, for which there is no image here. */
const appliedKinds = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"];

/**
 * Calico's plugins as its manifest installs them, with the Kubernetes datastore, and the objects that calico-node makes
 * at its start. Felix does not run: no policy holds, and its one setting that routed pods need is made here. The text of
 * the conf.
 */
export async function installCalico(node: ClusterNode, folder: string): Promise<string> {
  const { api } = node;
  const objects = objectsOf(join(folder, "calico.yaml"));
  await applyAll(
    api,
    objects.filter(({ kind }) => appliedKinds.includes(kind ?? "")),
  );
  await until("Calico's objects can be made", () => api.find(`${group}/ippools`));
  await api.apply(
    `${group}/clusterinformations/default`,
    own("ClusterInformation", "default", { datastoreReady: true }),
  );
  const pool = { cidr: "10.246.0.0/16", blockSize: 26, nodeSelector: "all()", ipipMode: "Never", vxlanMode: "Never" };
  const uses = { allowedUses: ["Workload"], natOutgoing: false };
  await api.apply(`${group}/ippools/default-ipv4-ippool`, own("IPPool", "default-ipv4-ippool", { ...pool, ...uses }));
  mkdirSync("/var/lib/calico", { recursive: true });
  writeFileSync("/var/lib/calico/nodename", nodeName);
  writeFileSync("/proc/sys/net/ipv4/ip_forward", "1");
  installRecorded("calico", join(folder, "calico"));
  rmSync("/opt/cni/bin/calico-ipam", { force: true });
  copyFileSync(join(folder, "calico"), "/opt/cni/bin/calico-ipam");
  await renewCalicoKubeconfig(node);
  const conf = filledIn(objects);
  writeFileSync(join(confFolder, "10-calico.conflist"), conf, { mode: 0o600 });
  return conf;
}

/** calico-node does it again and again, as its tokens end. */
export function renewCalicoKubeconfig(node: ClusterNode): Promise<void> {
  return writeKubeconfig(node, account, calicoKubeconfig);
}

interface Handle extends KubeObject {
  readonly spec: { readonly handleID: string; readonly block: Readonly<Record<string, number>> };
}

/** Who holds addresses in Calico's IPAM. */
export async function calicoHandles(api: Api): Promise<readonly string[]> {
  return (await api.list<Handle>(`${group}/ipamhandles`)).map(({ spec }) => spec.handleID);
}

/** Host ends of pods. */
export function calicoInterfaces(): readonly string[] {
  return hostInterfaces().filter((name) => name.startsWith("cali"));
}

function own(kind: string, name: string, spec: unknown): KubeObject {
  return { apiVersion: "crd.projectcalico.org/v1", kind, metadata: { name }, spec };
}

/** The template of its ConfigMap, filled in as its installer does it. */
function filledIn(objects: readonly KubeObject[]): string {
  const config = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "calico-config");
  const template = (config?.["data"] as Readonly<Record<string, string>> | undefined)?.["cni_network_config"] ?? "";
  return template
    .replace("__KUBERNETES_NODE_NAME__", nodeName)
    .replace("__CNI_MTU__", "1500")
    .replace("__KUBECONFIG_FILEPATH__", calicoKubeconfig);
}
