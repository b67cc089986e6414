import { Machine } from "./machine.ts";
import { applyAll, manifest } from "./manifests.ts";
import { startApiServer, untilReady } from "./node/api-server.ts";
import { ClusterNode, installPlugins, type NodeParts, type NodePrograms } from "./node/cluster-node.ts";
import { startContainerd } from "./node/containerd.ts";
import { startEtcd } from "./node/etcd.ts";
import { makeKubelet } from "./node/kubelet.ts";
import { writePrimary } from "./networks.ts";
import { Pods } from "./pods.ts";
import type { Program } from "./program.ts";
import { say } from "./say.ts";
import { until } from "./until.ts";

export interface ClusterParts extends NodePrograms {
  /** Folder of everything that is written. */
  readonly folder: string;
}

interface ControlPlane {
  readonly etcd: Program;
  readonly apiServer: Program;
}

/** A cluster of one node, with its control plane there. No meta-CNI yet. */
export class Cluster extends ClusterNode {
  readonly pods: Pods;
  readonly etcd: Program;
  readonly apiServer: Program;

  private constructor(node: NodeParts, { etcd, apiServer }: ControlPlane) {
    super(node);
    this.etcd = etcd;
    this.apiServer = apiServer;
    this.pods = new Pods(this.api);
  }

  static async start(parts: ClusterParts): Promise<Cluster> {
    const machine = Machine.make(parts.folder);
    installPlugins(parts.plugins);
    writePrimary("1.0.0");
    say("etcd, containerd");
    const [etcd, containerd] = await Promise.all([startEtcd(machine), startContainerd(machine)]);
    say("kube-apiserver");
    const { admin: api, caFile, program: apiServer } = await startApiServer(machine, parts.kubernetes);
    const kubelet = makeKubelet(machine, parts.kubernetes, caFile);
    const node = { machine, api, caFile, containerd, kubelet, busybox: parts.busybox };
    const cluster = new Cluster(node, { etcd, apiServer });
    cluster.importImages();
    await cluster.#furnish();
    say("kubelet");
    await cluster.register();
    return cluster;
  }

  async startApiServerAgain(): Promise<void> {
    this.apiServer.start();
    await untilReady(this.apiServer, this.api);
  }

  override async stop(): Promise<void> {
    await super.stop();
    for (const program of [this.apiServer, this.etcd]) await program.stop("SIGKILL");
  }

  /** Objects that controllers would have made; they do not run here. */
  async #furnish(): Promise<void> {
    await until("the namespace default is there", () => this.api.find("/api/v1/namespaces/default"));
    await applyAll(this.api, manifest("crd/network-attachment-definition.yaml"));
    for (const namespace of ["default", "kube-system"]) await this.addNamespace(namespace);
    await until("networks can be made", () => this.api.find("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"));
  }
}
