import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Api } from "../e2e/api.ts";
import { applyAll, manifest, pathOf } from "../e2e/manifests.ts";
import { adminToken, apiUrl, startApiServer, untilReady, type ApiServer } from "../e2e/node/api-server.ts";
import { startEtcd } from "../e2e/node/etcd.ts";
import { Pods } from "../e2e/pods.ts";
import { Program } from "../e2e/program.ts";
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
  readonly #apiServer: Program;
  readonly #others: readonly Program[];

  private constructor(server: ApiServer, others: readonly Program[]) {
    this.api = server.admin;
    this.pods = new Pods(server.admin);
    this.caFile = server.caFile;
    this.#apiServer = server.program;
    this.#others = others;
  }

  static async start(folder: string, bin: string): Promise<ControlPlane> {
    const place = { path: (...parts: readonly string[]) => join(folder, ...parts), logFolder: join(folder, "logs") };
    say("etcd, kube-apiserver");
    const etcd = await startEtcd(place);
    const server = await startApiServer(place, bin, hostAddress);
    const access = place.path("admin.conf");
    writeFileSync(access, adminAccess(server.caFile), { mode: 0o600 });
    say("kube-controller-manager, kube-scheduler");
    const local = ["--leader-elect=false", "--secure-port=0", `--kubeconfig=${access}`];
    const controllers = new Program(place.logFolder, "kube-controller-manager", {
      command: [
        join(bin, "kube-controller-manager"),
        ...local,
        "--use-service-account-credentials",
        `--service-account-private-key-file=${place.path("pki/sa.key")}`,
        `--root-ca-file=${server.caFile}`,
      ],
    });
    const scheduler = new Program(place.logFolder, "kube-scheduler", {
      command: [join(bin, "kube-scheduler"), ...local],
    });
    const plane = new ControlPlane(server, [scheduler, controllers, etcd]);
    controllers.start();
    scheduler.start();
    await applyAll(plane.api, manifest("crd/network-attachment-definition.yaml"));
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await controllers.untilUp("works", async () => (await plane.api.find(account)) !== undefined, startMs);
    return plane;
  }

  async stopApiServer(): Promise<void> {
    await this.#apiServer.stop("SIGKILL");
  }

  async startApiServerAgain(): Promise<void> {
    if (!this.#apiServer.isRunning) this.#apiServer.start();
    await untilReady(this.#apiServer, this.api);
    // They end when they cannot reach it for long, as they should.
    for (const program of this.#others) if (!program.isRunning) program.start();
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
    for (const program of [...this.#others.slice(0, 2), this.#apiServer, ...this.#others.slice(2)])
      await program.stop("SIGKILL");
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

function adminAccess(caFile: string): string {
  return JSON.stringify({
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{ name: "vm", cluster: { "server": apiUrl, "certificate-authority": caFile } }],
    "users": [{ name: "admin", user: { token: adminToken } }],
    "contexts": [{ name: "vm", context: { cluster: "vm", user: "admin" } }],
    "current-context": "vm",
  });
}
