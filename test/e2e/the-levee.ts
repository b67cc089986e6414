import type { Cluster } from "./cluster.ts";
import { applyNetworks, bridgeNetwork, network, hostLocal } from "./networks.ts";
import { LeveeNode } from "./node/levee-node.ts";
import { installRecorders } from "./recorder.ts";
import { say } from "./say.ts";
import { theCluster } from "./the-cluster.ts";

export interface Scene {
  readonly cluster: Cluster;
  readonly levee: LeveeNode;
}

export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";
export const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

let made: Promise<Scene> | undefined;

/** The cluster with Levee installed and serving, and the networks of the scenarios; the first to ask starts it. */
export async function theScene(): Promise<Scene> {
  made ??= make();
  const scene = await made;
  if (!scene.levee.daemon.isRunning) await scene.levee.start();
  return scene;
}

/** The same before anything is started: for moving from something else. */
export async function theStoppedScene(): Promise<Scene> {
  made ??= make();
  return made;
}

async function make(): Promise<Scene> {
  const cluster = await theNetworks();
  const levee = new LeveeNode(cluster);
  say("Levee is installed");
  await levee.install();
  return { cluster, levee };
}

/** The cluster with the networks of the scenarios. */
export async function theNetworks(): Promise<Cluster> {
  const cluster = await theCluster();
  installRecorders();
  await cluster.untilNodeReady();
  await applyNetworks(
    cluster.api,
    bridgeNetwork("blue", "10.90.0.0/24"),
    bridgeNetwork("green", "10.91.0.0/24"),
    network("slow", { cniVersion: "1.0.0", type: "slow-bridge", bridge: "slow0", ipam: hostLocal("10.92.0.0/24") }),
  );
  return cluster;
}

/** `prefix-01`, `prefix-02` … */
export function names(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index + 1).padStart(2, "0")}`);
}

export function podsOn(
  podNames: readonly string[],
  networks: string,
): { name: string; annotations: Record<string, string> }[] {
  return podNames.map((name) => ({ name, annotations: { [networksAnnotation]: networks } }));
}
