import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyAll, objectsOf } from "../manifests.ts";
import { nodeLink, nodeName } from "../machine.ts";
import { confFolder, listing } from "../networks.ts";
import type { ClusterNode } from "../node/cluster-node.ts";
import { Program } from "../program.ts";
import { writeKubeconfig } from "./kubeconfig.ts";

export const subnetFile = "/run/flannel/subnet.env";
const dataFolder = "/var/lib/cni/flannel";
const account = { namespace: "kube-flannel", name: "flannel" };
const ownFolder = "/etc/kube-flannel";
const conf = "10-flannel.conflist";
/** Of its manifest: everything but the pods, for which there is no image here. */
const appliedKinds = ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "ConfigMap"];

/** Where its programs and its manifest are. */
export interface FlannelFolders {
  readonly flanneld: string;
  readonly plugin: string;
}

/** Flannel as its manifest runs it, less the container: rights, program, plugin and confs. The backend is host-gw. */
export class FlannelNode {
  readonly #node: ClusterNode;
  readonly #folders: FlannelFolders;
  readonly #program: Program;

  constructor(node: ClusterNode, folders: FlannelFolders) {
    this.#node = node;
    this.#folders = folders;
    const own = [`--kubeconfig-file=${ownFolder}/kubeconfig`, `--net-config-path=${ownFolder}/net-conf.json`];
    // Rules for traffic that leaves the cluster are of no use here, and would need iptables.
    const rules = ["--ip-masq=false", "--iptables-forward-rules=false"];
    this.#program = new Program(node.machine.logFolder, "flanneld", {
      command: [join(folders.flanneld, "flanneld"), "--kube-subnet-mgr", `--iface=${nodeLink}`, ...own, ...rules],
      env: { NODE_NAME: nodeName },
    });
  }

  /** What its two init containers and its ConfigMap leave on the node. The conf is there before flanneld runs. */
  async install(): Promise<void> {
    const objects = objectsOf(join(this.#folders.flanneld, "kube-flannel.yml"));
    await applyAll(
      this.#node.api,
      objects.filter(({ kind }) => appliedKinds.includes(kind ?? "")),
    );
    const shipped = objects.find(({ kind }) => kind === "ConfigMap")?.["data"] as Readonly<Record<string, string>>;
    await writeKubeconfig(this.#node, account, join(ownFolder, "kubeconfig"));
    mkdirSync(ownFolder, { recursive: true });
    writeFileSync(join(ownFolder, "net-conf.json"), withHostGateway(shipped["net-conf.json"] ?? ""));
    rmSync("/opt/cni/bin/flannel", { force: true });
    copyFileSync(join(this.#folders.plugin, "flannel"), "/opt/cni/bin/flannel");
    writeFileSync(join(confFolder, conf), withoutMasquerade(shipped["cni-conf.json"] ?? ""));
  }

  async start(): Promise<void> {
    this.#program.start();
    await this.#program.untilUp("has a subnet for the node", async () => existsSync(subnetFile));
  }

  /** As after a boot, which empties /run: the plugin cannot attach before flanneld runs again. */
  async stop(): Promise<void> {
    await this.#program.stop();
    rmSync(subnetFile, { force: true });
  }
}

function withHostGateway(shipped: string): string {
  const settings = JSON.parse(shipped) as Readonly<Record<string, unknown>>;
  return JSON.stringify({ ...settings, Backend: { Type: "host-gw" } }, undefined, 2);
}

interface ConfList {
  readonly plugins: readonly { readonly delegate?: object }[];
}

/** The plugin has `bridge` do what flanneld is told not to do. */
function withoutMasquerade(shipped: string): string {
  const list = JSON.parse(shipped) as ConfList;
  const plugins = list.plugins.map((plugin) =>
    plugin.delegate === undefined ? plugin : { ...plugin, delegate: { ...plugin.delegate, ipMasq: false } },
  );
  return JSON.stringify({ ...list, plugins }, undefined, 2);
}

/** What the plugin keeps for containers whose DEL has not come. */
export function flannelLeftovers(): readonly string[] {
  return listing(dataFolder).map((name) => `file ${join(dataFolder, name)}`);
}
