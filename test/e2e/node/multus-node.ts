import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../cluster.ts";
import { applyAll } from "../manifests.ts";
import { nodeName } from "../machine.ts";
import { confFolder } from "../networks.ts";
import { Program } from "../program.ts";
import { requestToken, serviceAccountFolder, writeServiceAccount } from "../service-account.ts";
import { apiHost, apiPort } from "./api-server.ts";

const account = { namespace: "kube-system", name: "multus" };
const configFile = "/etc/multus/daemon-config.json";
const generatedConf = `${confFolder}/00-multus.conf`;
/** As its installer names them. */
const installedPrograms = { "multus-shim": "multus-shim", "passthru-cni": "passthru" };

/** Multus as its thick manifest runs it, less the container. */
export class MultusNode {
  readonly program: Program;
  readonly #cluster: Cluster;
  readonly #bin: string;

  /** `cgroups` are those its container would have: the delegates it runs are in them too. */
  constructor(cluster: Cluster, version: string, bin: string, cgroups: readonly string[] = []) {
    this.#cluster = cluster;
    this.#bin = bin;
    this.program = new Program(cluster.machine.logFolder, `multus-${version}`, {
      command: [join(bin, "multus-daemon"), "-config", configFile],
      cgroups,
      env: { KUBERNETES_SERVICE_HOST: apiHost, KUBERNETES_SERVICE_PORT: apiPort, MULTUS_NODE_NAME: nodeName },
    });
  }

  async install(more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    await applyAll(this.#cluster.api, rights());
    await this.#writeToken();
    for (const [program, installed] of Object.entries(installedPrograms)) {
      rmSync(join("/opt/cni/bin", installed), { force: true });
      copyFileSync(join(this.#bin, program), join("/opt/cni/bin", installed));
    }
    mkdirSync("/etc/multus", { recursive: true });
    writeFileSync(configFile, JSON.stringify({ ...settings, ...more }, undefined, 2));
  }

  async start(): Promise<void> {
    this.program.start();
    await this.program.untilUp(
      "has made its conf",
      async () => existsSync(generatedConf) && existsSync("/run/multus/multus.sock"),
    );
  }

  /** Multus takes its conf along when it is asked to end. */
  async stop(): Promise<void> {
    await this.program.stop();
    rmSync(generatedConf, { force: true });
  }

  async #writeToken(): Promise<void> {
    const token = await requestToken(this.#cluster.api, account, await this.#cluster.nodeReference());
    writeServiceAccount(serviceAccountFolder, { token, caFile: this.#cluster.caFile, namespace: account.namespace });
  }
}

const settings = {
  cniVersion: "0.3.1",
  logLevel: "verbose",
  logToStderr: true,
  cniConfigDir: confFolder,
  multusAutoconfigDir: confFolder,
  multusConfigFile: "auto",
  socketDir: "/run/multus/",
  daemonSocketDir: "/run/multus/",
};

function rights(): Parameters<typeof applyAll>[1] {
  const group = "rbac.authorization.k8s.io";
  const any = ["*"];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRole",
      metadata: { name: "multus" },
      rules: [
        { apiGroups: ["k8s.cni.cncf.io"], resources: any, verbs: any },
        { apiGroups: [""], resources: ["pods", "pods/status"], verbs: ["get", "list", "update", "watch"] },
        { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
      ],
    },
    {
      apiVersion: `${group}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "multus" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "multus" },
      subjects: [{ kind: "ServiceAccount", ...account }],
    },
  ];
}
