import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Machine, serviceAddress } from "./machine.ts";
import { applyAll, manifest } from "./manifests.ts";
import { apiHost, apiPort, startApiServer, untilReady, writeAccountKeys, type ApiServer } from "./node/api-server.ts";
import { ClusterNode, installPlugins, type NodeParts, type NodePrograms } from "./node/cluster-node.ts";
import { startContainerd } from "./node/containerd.ts";
import { Controllers } from "./node/controllers.ts";
import { startEtcd } from "./node/etcd.ts";
import { makeKubelet } from "./node/kubelet.ts";
import { writePrimary } from "./networks.ts";
import { Pods } from "./pods.ts";
import { Program } from "./program.ts";
import { say } from "./say.ts";
import { until } from "./until.ts";

export interface ClusterParts extends NodePrograms {
  /** Folder of everything that is written. */
  readonly folder: string;
}

interface ControlPlane {
  readonly etcd: Program;
  readonly server: ApiServer;
  /** Folder of Kubernetes' programs. */
  readonly bin: string;
}

/** A cluster of one node, with its control plane there. No meta-CNI yet. */
export class Cluster extends ClusterNode {
  readonly pods: Pods;
  readonly etcd: Program;
  readonly apiServer: Program;
  readonly controllers: Controllers;
  readonly #bin: string;
  readonly #serviceProxy: Program;

  private constructor(node: NodeParts, { etcd, server, bin }: ControlPlane) {
    super(node);
    this.etcd = etcd;
    this.apiServer = server.program;
    this.pods = new Pods(this.api);
    this.controllers = new Controllers(this.machine, bin, server);
    this.#bin = bin;
    const addresses = [serviceAddress, "443", apiHost, apiPort];
    this.#serviceProxy = new Program(this.machine.logFolder, "service-proxy", {
      command: [process.execPath, join(import.meta.dir, "node/service-proxy-process.ts"), ...addresses],
    });
  }

  static async start(parts: ClusterParts): Promise<Cluster> {
    const machine = Machine.make(parts.folder);
    installPlugins(parts.plugins);
    writePrimary("1.0.0");
    say("etcd, containerd");
    const [etcd, containerd] = await Promise.all([startEtcd(machine), startContainerd(machine)]);
    say("kube-apiserver");
    const server = await startApiServer(machine, parts.kubernetes);
    const { admin: api, caFile } = server;
    const kubelet = makeKubelet(machine, parts.kubernetes, caFile);
    const node = { machine, api, caFile, containerd, kubelet, busybox: parts.busybox };
    const cluster = new Cluster(node, { etcd, server, bin: parts.kubernetes });
    cluster.importImages();
    await cluster.#furnish();
    say("kubelet");
    await cluster.register();
    return cluster;
  }

  /** From here on DaemonSets and Deployments have pods, and pods reach the API server at its service address. */
  async startControllers(): Promise<void> {
    if (!this.#serviceProxy.isRunning) this.#serviceProxy.start();
    await this.controllers.start();
  }

  /** kubectl as the administrator has it; what it prints. */
  kubectl(args: readonly string[], input = ""): string {
    const command = [`--kubeconfig=${this.controllers.kubeconfig}`, ...args];
    const { status, stdout, stderr } = spawnSync(join(this.#bin, "kubectl"), command, { encoding: "utf8", input });
    if (status !== 0) throw new Error(`kubectl ${args.join(" ")} failed with ${status ?? "a signal"}: ${stderr}`);
    return stdout;
  }

  async startApiServerAgain(): Promise<void> {
    this.apiServer.start();
    await untilReady(this.apiServer, this.api);
  }

  /** Every token of a service account from before is worth nothing; the kubelet gives its pods new ones. */
  async replaceAccountKeys(): Promise<void> {
    await this.controllers.stop();
    await this.apiServer.stop("SIGKILL");
    writeAccountKeys(this.machine);
    await this.startApiServerAgain();
    await this.controllers.start();
    await this.restartKubelet();
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.controllers.stop();
    for (const program of [this.#serviceProxy, this.apiServer, this.etcd]) await program.stop("SIGKILL");
  }

  /** Objects that controllers would have made; they do not run here. */
  async #furnish(): Promise<void> {
    await until("the namespace default is there", () => this.api.find("/api/v1/namespaces/default"));
    await applyAll(this.api, manifest("crd/network-attachment-definition.yaml"));
    for (const namespace of ["default", "kube-system"]) await this.addNamespace(namespace);
    await until("networks can be made", () => this.api.find("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"));
  }
}
