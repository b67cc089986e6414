import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Api, KubeObject } from "../api.ts";
import { Machine, nodeName } from "../machine.ts";
import { applyAll } from "../manifests.ts";
import type { Program } from "../program.ts";
import type { BoundTo } from "../service-account.ts";
import { until } from "../until.ts";
import { startContainerd, untilServing } from "./containerd.ts";
import { importBusybox } from "./image.ts";
import { makeKubelet, startKubelet } from "./kubelet.ts";

interface Node extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The control plane, as a node finds it. */
interface ControlPlane {
  readonly api: Api;
  readonly caFile: string;
}

export interface NodeParts extends ControlPlane {
  readonly machine: Machine;
  readonly containerd: Program;
  readonly kubelet: Program;
  readonly busybox: string;
}

/** The programs that a node is made of. */
export interface NodePrograms {
  readonly kubernetes: string;
  readonly plugins: string;
  readonly busybox: string;
}

/** The node on which this process runs: the real kubelet, containerd, runc and plugins. No meta-CNI yet. */
export class ClusterNode {
  readonly machine: Machine;
  readonly api: Api;
  readonly caFile: string;
  readonly kubelet: Program;
  readonly #busybox: string;
  #containerd: Program;
  #untilServing = untilServing;

  protected constructor(parts: NodeParts) {
    this.machine = parts.machine;
    this.api = parts.api;
    this.caFile = parts.caFile;
    this.kubelet = parts.kubelet;
    this.#containerd = parts.containerd;
    this.#busybox = parts.busybox;
  }

  /** A node without a control plane of its own. */
  static async join(machine: Machine, programs: NodePrograms, { api, caFile }: ControlPlane): Promise<ClusterNode> {
    installPlugins(programs.plugins);
    const containerd = await startContainerd(machine);
    const kubelet = makeKubelet(machine, programs.kubernetes, caFile);
    const node = new ClusterNode({ machine, api, caFile, containerd, kubelet, busybox: programs.busybox });
    node.importImages();
    await node.register();
    return node;
  }

  get containerd(): Program {
    return this.#containerd;
  }

  /** From the next start on the node runs another containerd, or another runtime, which knows nothing of the one before. */
  replaceContainerd(containerd: Program, untilItServes = untilServing): void {
    this.#containerd = containerd;
    this.#untilServing = untilItServes;
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

  async restartContainerd(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.containerd.restart(signal);
    await this.#untilServing(this.containerd);
  }

  async restartKubelet(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.kubelet.stop(signal);
    await startKubelet(this.kubelet);
  }

  async addNamespace(namespace: string): Promise<void> {
    await applyAll(this.api, [
      { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } },
    ]);
  }

  async stop(): Promise<void> {
    for (const program of [this.kubelet, this.containerd]) await program.stop("SIGKILL");
  }

  protected async register(): Promise<void> {
    await startKubelet(this.kubelet);
    await this.kubelet.untilUp("registers the node", async () => (await this.#node()) !== undefined);
  }

  #node(): Promise<Node | undefined> {
    return this.api.find<Node>(`/api/v1/nodes/${nodeName}`);
  }
}

export function installPlugins(folder: string): void {
  mkdirSync("/opt/cni/bin", { recursive: true });
  for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join("/opt/cni/bin", name));
}
