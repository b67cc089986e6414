import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Api, KubeObject } from "../api.ts";
import type { Cluster } from "../cluster.ts";
import { applyAll, objectsOf } from "../manifests.ts";
import { confFolder } from "../networks.ts";
import { until } from "../until.ts";
import { writeKubeconfig } from "./kubeconfig.ts";

export const whereaboutsProgram = "/opt/cni/bin/whereabouts";
const group = "/apis/whereabouts.cni.cncf.io/v1alpha1";
const account = { namespace: "kube-system", name: "whereabouts" };
const flatFolder = join(confFolder, "whereabouts.d");
/** Of its manifest: everything but the pods, for which there is no image here. */
const rightsKinds = ["ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];

/** whereabouts as its manifest installs it, less the container: definitions, rights, program and its two files. */
export async function installWhereabouts(cluster: Cluster, folder: string): Promise<void> {
  const definitions = readdirSync(folder).filter((name) => name.startsWith("whereabouts.cni.cncf.io_"));
  for (const name of definitions) await applyAll(cluster.api, objectsOf(join(folder, name)));
  const manifest = objectsOf(join(folder, "daemonset-install.yaml"));
  await applyAll(
    cluster.api,
    manifest.filter(({ kind }) => rightsKinds.includes(kind ?? "")),
  );
  await until("the pools of whereabouts can be read", () => cluster.api.find(`${group}/ippools`));
  const kubeconfig = join(flatFolder, "whereabouts.kubeconfig");
  await writeKubeconfig(cluster, account, kubeconfig);
  const conf = { datastore: "kubernetes", kubernetes: { kubeconfig }, log_file: "/var/lib/cni/whereabouts.log" };
  mkdirSync(dirname(kubeconfig), { recursive: true });
  writeFileSync(join(flatFolder, "whereabouts.conf"), JSON.stringify({ ...conf, log_level: "debug" }, undefined, 2));
  rmSync(whereaboutsProgram, { force: true });
  copyFileSync(join(folder, "whereabouts"), whereaboutsProgram);
}

interface Pool extends KubeObject {
  readonly spec: {
    readonly range: string;
    readonly allocations?: Readonly<Record<string, { readonly id: string; readonly podref: string }>>;
  };
}

/** An address that whereabouts holds, and for which container and pod. */
export interface Held {
  readonly address: string;
  readonly containerId: string;
  readonly pod: string;
}

/** All addresses in its pools. */
export async function heldAddresses(api: Api): Promise<readonly Held[]> {
  const pools = await api.list<Pool>(`${group}/ippools`);
  return pools.flatMap(({ spec }) =>
    Object.entries(spec.allocations ?? {}).map(([offset, { id, podref }]) => ({
      address: addressAt(spec.range, Number(offset)),
      containerId: id,
      pod: podref,
    })),
  );
}

/** The same addresses once more: its record of what is taken over all pools. */
export async function reservedAddresses(api: Api): Promise<readonly string[]> {
  return (await api.list(`${group}/overlappingrangeipreservations`)).map(({ metadata }) => metadata.name);
}

function addressAt(range: string, offset: number): string {
  const first = (range.split("/")[0] ?? "").split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  return [24, 16, 8, 0].map((shift) => ((first + offset) >>> shift) & 255).join(".");
}
