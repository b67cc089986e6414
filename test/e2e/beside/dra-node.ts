import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "../api.ts";
import type { Cluster } from "../cluster.ts";
import { nodeName } from "../machine.ts";
import { applyAll } from "../manifests.ts";
import { adminToken, apiUrl } from "../node/api-server.ts";
import { Program } from "../program.ts";
import { until } from "../until.ts";
import { writeKubeconfig } from "./kubeconfig.ts";

/** The name of the driver, of its class of devices, and what its devices put into a container's environment. */
export const draDriverName = "gpu.example.com";
const account = { namespace: "kube-system", name: "dra-example-driver" };

/** Device claims (DRA) on the node: a driver beside the kubelet, and the controller and scheduler that allot devices. */
export class DraNode {
  readonly #programs: readonly Program[];

  private constructor(programs: readonly Program[]) {
    this.#programs = programs;
  }

  /** The folders are those of the driver's and of Kubernetes' programs. */
  static async start(cluster: Cluster, folders: { driver: string; kubernetes: string }): Promise<DraNode> {
    const { api, machine } = cluster;
    await applyAll(api, objects());
    const access = machine.path("dra-driver.conf");
    await writeKubeconfig(cluster, account, access);
    const driver = new Program(machine.logFolder, "dra-driver", {
      command: [join(folders.driver, "dra-example-kubeletplugin"), `--kubeconfig=${access}`],
      // containerd looks for devices in this folder too.
      env: { NODE_NAME: nodeName, CDI_ROOT: "/var/run/cdi", NUM_DEVICES: "4", HEALTHCHECK_PORT: "-1" },
    });
    const node = new DraNode([driver, ...allotters(cluster, folders.kubernetes)]);
    for (const program of node.#programs) program.start();
    await until("the driver offers devices", async () =>
      (await api.list("/apis/resource.k8s.io/v1/resourceslices")).length > 0 ? true : undefined,
    );
    return node;
  }

  async stop(): Promise<void> {
    for (const program of this.#programs) await program.stop();
  }
}

/** They make a claim of a template, find a device for it, and bind the pod. Nothing else of theirs runs. */
function allotters({ machine, caFile }: Cluster, bin: string): readonly Program[] {
  const access = machine.path("allotters.conf");
  writeFileSync(access, adminAccess(caFile), { mode: 0o600 });
  const local = ["--leader-elect=false", "--secure-port=0", `--kubeconfig=${access}`];
  return [
    new Program(machine.logFolder, "kube-controller-manager", {
      command: [join(bin, "kube-controller-manager"), ...local, "--controllers=resourceclaim-controller"],
    }),
    new Program(machine.logFolder, "kube-scheduler", { command: [join(bin, "kube-scheduler"), ...local] }),
  ];
}

function objects(): readonly KubeObject[] {
  const group = "rbac.authorization.k8s.io";
  const { name } = account;
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name },
      rules: [
        { apiGroups: ["resource.k8s.io"], resources: ["resourceclaims"], verbs: ["get"] },
        { apiGroups: ["resource.k8s.io"], resources: ["resourceslices"], verbs: ["*"] },
        { apiGroups: [""], resources: ["nodes"], verbs: ["get"] },
      ],
    },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: group, kind: "ClusterRole", name },
      subjects: [{ kind: "ServiceAccount", ...account }],
    },
    {
      apiVersion: "resource.k8s.io/v1",
      kind: "DeviceClass",
      metadata: { name: draDriverName },
      spec: { selectors: [{ cel: { expression: `device.driver == '${draDriverName}'` } }] },
    },
  ];
}

function adminAccess(caFile: string): string {
  return JSON.stringify({
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{ name: "local", cluster: { "server": apiUrl, "certificate-authority": caFile } }],
    "users": [{ name: "admin", user: { token: adminToken } }],
    "contexts": [{ name: "local", context: { cluster: "local", user: "admin" } }],
    "current-context": "local",
  });
}
