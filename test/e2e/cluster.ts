import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Api, KubeObject } from "./api.ts";
import { Machine, nodeName } from "./machine.ts";
import { applyAll, manifest } from "./manifests.ts";
import { startApiServer, untilReady } from "./node/api-server.ts";
import { startContainerd, untilServing } from "./node/containerd.ts";
import { startEtcd } from "./node/etcd.ts";
import { importBusybox } from "./node/image.ts";
import { makeKubelet, startKubelet } from "./node/kubelet.ts";
import { writePrimary } from "./networks.ts";
import { Pods } from "./pods.ts";
import type { Program } from "./program.ts";
import { say } from "./say.ts";
import type { BoundTo } from "./service-account.ts";
import { until } from "./until.ts";

export interface ClusterParts {
  /** Folder of everything that is written. */
  readonly folder: string;
  /** Folders of programs: Kubernetes and the CNI plugins. */
  readonly kubernetes: string;
  readonly plugins: string;
  readonly busybox: string;
}

interface Node extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** A cluster of one node: the real control plane, kubelet, containerd, runc and plugins. No meta-CNI yet. */
export class Cluster {
  readonly machine: Machine;
  readonly api: Api;
  readonly pods: Pods;
  readonly caFile: string;
  readonly etcd: Program;
  readonly apiServer: Program;
  readonly kubelet: Program;
  readonly #busybox: string;
  #containerd: Program;

  private constructor(parts: {
    machine: Machine;
    etcd: Program;
    containerd: Program;
    kubelet: Program;
    busybox: string;
    server: Awaited<ReturnType<typeof startApiServer>>;
  }) {
    this.machine = parts.machine;
    this.etcd = parts.etcd;
    this.#containerd = parts.containerd;
    this.kubelet = parts.kubelet;
    this.#busybox = parts.busybox;
    this.apiServer = parts.server.program;
    this.api = parts.server.admin;
    this.caFile = parts.server.caFile;
    this.pods = new Pods(this.api);
  }

  static async start(parts: ClusterParts): Promise<Cluster> {
    const machine = Machine.make(parts.folder);
    installPlugins(parts.plugins);
    writePrimary("1.0.0");
    say("etcd, containerd");
    const [etcd, containerd] = await Promise.all([startEtcd(machine), startContainerd(machine)]);
    say("kube-apiserver");
    const server = await startApiServer(machine, parts.kubernetes);
    const kubelet = makeKubelet(machine, parts.kubernetes, server.caFile);
    const cluster = new Cluster({ machine, etcd, containerd, kubelet, server, busybox: parts.busybox });
    cluster.importImages();
    await cluster.#furnish();
    say("kubelet");
    await startKubelet(kubelet);
    await kubelet.untilUp("registers the node", async () => (await cluster.#node()) !== undefined);
    return cluster;
  }

  get containerd(): Program {
    return this.#containerd;
  }

  /** From the next start on the node runs another containerd, which knows nothing of the one before. */
  replaceContainerd(containerd: Program): void {
    this.#containerd = containerd;
    Machine.empty("/var/lib/containerd");
  }

  /** Gives containerd the images of the tests. */
  importImages(): void {
    importBusybox(this.machine.path("image"), this.#busybox);
  }

  /** This node, for a token that is bound to it. */
  async nodeReference(): Promise<BoundTo> {
    const node = await this.#node();
    return { kind: "Node", apiVersion: "v1", name: nodeName, uid: node?.metadata.uid ?? "" };
  }

  async isNodeReady(): Promise<boolean> {
    const node = await this.#node();
    return node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
  }

  async untilNodeReady(): Promise<void> {
    await until("the node is ready", async () => (await this.isNodeReady()) || undefined, { timeoutMs: 90_000 });
  }

  async startApiServerAgain(): Promise<void> {
    this.apiServer.start();
    await untilReady(this.apiServer, this.api);
  }

  async restartContainerd(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.containerd.restart(signal);
    await untilServing(this.containerd);
  }

  async restartKubelet(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.kubelet.stop(signal);
    await startKubelet(this.kubelet);
  }

  async stop(): Promise<void> {
    for (const program of [this.kubelet, this.containerd, this.apiServer, this.etcd]) await program.stop("SIGKILL");
  }

  /** Objects that controllers would have made; they do not run here. */
  async #furnish(): Promise<void> {
    await until("the namespace default is there", () => this.api.find("/api/v1/namespaces/default"));
    await applyAll(this.api, manifest("crd/network-attachment-definition.yaml"));
    for (const namespace of ["default", "kube-system"]) await this.addNamespace(namespace);
    await until("networks can be made", () => this.api.find("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"));
  }

  async addNamespace(namespace: string): Promise<void> {
    await applyAll(this.api, [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
    ]);
  }

  #node(): Promise<Node | undefined> {
    return this.api.find<Node>(`/api/v1/nodes/${nodeName}`);
  }
}

function installPlugins(folder: string): void {
  mkdirSync("/opt/cni/bin", { recursive: true });
  for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join("/opt/cni/bin", name));
}
