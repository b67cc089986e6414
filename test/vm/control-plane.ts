import { join } from "node:path";
import type { Api } from "../e2e/api.ts";
import { applyAll, manifest, pathOf } from "../e2e/manifests.ts";
import { startApiServer, untilReady, type ApiServer } from "../e2e/node/api-server.ts";
import { Controllers } from "../e2e/node/controllers.ts";
import { startEtcd } from "../e2e/node/etcd.ts";
import { Pods } from "../e2e/pods.ts";
import type { Program } from "../e2e/program.ts";
import { say } from "../e2e/say.ts";
import { hostAddress } from "./machine/addresses.ts";
import { slowly } from "./slowly.ts";

/** The host is busy with the guest's processors. */
const startMs = 180_000;

/** etcd, kube-apiserver, kube-controller-manager and kube-scheduler beside the virtual machine, which is their one node. */
export class ControlPlane {
  readonly api: Api;
  readonly pods: Pods;
  readonly caFile: string;
  readonly #etcd: Program;
  readonly #apiServer: Program;
  readonly #controllers: Controllers;

  private constructor(etcd: Program, server: ApiServer, controllers: Controllers) {
    this.api = server.admin;
    this.pods = new Pods(server.admin);
    this.caFile = server.caFile;
    this.#etcd = etcd;
    this.#apiServer = server.program;
    this.#controllers = controllers;
  }

  static async start(folder: string, bin: string): Promise<ControlPlane> {
    const place = { path: (...parts: readonly string[]) => join(folder, ...parts), logFolder: join(folder, "logs") };
    say("etcd, kube-apiserver");
    const etcd = await startEtcd(place);
    const server = await startApiServer(place, bin, hostAddress);
    const plane = new ControlPlane(etcd, server, new Controllers(place, bin, server));
    await applyAll(plane.api, manifest("crd/network-attachment-definition.yaml"));
    say("kube-controller-manager, kube-scheduler");
    await plane.#controllers.start(startMs);
    return plane;
  }

  async stopApiServer(): Promise<void> {
    await this.#apiServer.stop("SIGKILL");
  }

  async startApiServerAgain(): Promise<void> {
    if (!this.#apiServer.isRunning) this.#apiServer.start();
    await untilReady(this.#apiServer, this.api);
    await this.#controllers.start(startMs);
  }

  /** Also after a boot, when the server still has the node's word from before. */
  async untilNodeReady(bootId: string): Promise<void> {
    await slowly("the node is ready in its new boot", async () => {
      const [node] = await this.api.list<NodeObject>("/api/v1/nodes");
      const trouble = unreadiness(node, bootId);
      if (trouble !== undefined) throw new Error(trouble);
      return true;
    });
  }

  /** Every pod of the DaemonSet has its present template, and is ready. */
  async untilRolledOut(namespace: string, name: string): Promise<void> {
    await slowly(
      `the DaemonSet ${name} is rolled out`,
      async () => {
        const { metadata, status } = await this.api.get<DaemonSetObject>(pathOf("DaemonSet", namespace, name));
        const isSeen = status?.observedGeneration === metadata.generation;
        return isSeen && status?.updatedNumberScheduled === 1 && status.numberReady === 1 ? true : undefined;
      },
      { everyMs: 1_000 },
    );
  }

  async stop(): Promise<void> {
    await this.#controllers.stop();
    for (const program of [this.#apiServer, this.#etcd]) await program.stop("SIGKILL");
  }
}

interface NodeObject {
  readonly status?: {
    readonly nodeInfo?: { readonly bootID?: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

function unreadiness(node: NodeObject | undefined, bootId: string): string | undefined {
  const { nodeInfo, conditions = [] } = node?.status ?? {};
  if (nodeInfo?.bootID !== bootId) return "the kubelet has not reported this boot";
  const { status, message } = conditions.find(({ type }) => type === "Ready") ?? { status: "not there" };
  return status === "True" ? undefined : `Ready is ${status}: ${message ?? ""}`;
}

interface DaemonSetObject {
  readonly metadata: { readonly generation?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberReady?: number;
  };
}
