import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../lab/free-port.ts";
import { distributionPlugins, Lab, type CniOutcome } from "../../lab/lab.ts";
import { makePod } from "../guard/guard-server.ts";
import type { PolicyServer } from "../policy-server.ts";
import { ownAddress as address } from "./own-address.ts";

export const toldNode = "worker-1";

/** Often enough for a test to see the addresses that host-local holds. */
const gcIntervalMs = 2_000;

/** A node of a real API server whose daemon the console asks from afar: real daemon, shim, hand and plugins, no kubelet. */
export class ToldNode {
  readonly #server: PolicyServer;
  readonly #lab: Lab;
  readonly metricsPort: number;

  private constructor(server: PolicyServer, lab: Lab, metricsPort: number) {
    this.#server = server;
    this.#lab = lab;
    this.metricsPort = metricsPort;
  }

  /** `settings`: of the daemon, besides those that the test needs anyway. */
  static async start(server: PolicyServer, settings: object = {}): Promise<ToldNode> {
    const node = new ToldNode(server, await Lab.make(), await freePort());
    await node.#startDaemon(settings);
    node.#tellServer();
    return node;
  }

  /** A definition of the bridge plugin with host-local, which keeps its addresses in a folder of the test. */
  defineNetwork(name: string, subnet: string): void {
    const bridge = `${name.slice(0, 4)}${this.#lab.id}`;
    const ipam = { type: "host-local", subnet, dataDir: this.#lab.path("leases") };
    const plugins = [{ type: "bridge", bridge, isGateway: true, ipam }, { type: "tuning" }];
    const config = JSON.stringify({ cniVersion: "1.0.0", name, plugins });
    const metadata = { name, namespace: "shop" };
    const kind = "NetworkAttachmentDefinition";
    this.#server.must(
      ["apply", "-f", "-"],
      JSON.stringify({ apiVersion: "k8s.cni.cncf.io/v1", kind, metadata, spec: { config } }),
    );
  }

  /** Makes the pod, and the runtime's call for it as often as told; the outcome is that of the last. */
  async attach(name: string, networks: string, times = 1): Promise<CniOutcome> {
    const annotations = { "k8s.v1.cni.cncf.io/networks": networks };
    const uid = await makePod(this.#server, { name, namespace: "shop", node: toldNode, annotations });
    const netns = this.#lab.netns(name);
    const args = `${this.#lab.podArgs(name, "shop")};K8S_POD_UID=${uid}`;
    const add = (): Promise<CniOutcome> => this.#lab.cni("ADD", { containerId: `${name}-sandbox`, netns, args });
    let outcome = await add();
    for (let turn = 1; turn < times; turn += 1) outcome = await add();
    if (outcome.exitCode === 0) await this.#runs(name);
    return outcome;
  }

  /** What a stranger on the network gets from the daemon's port. */
  async ask(path: string): Promise<Response> {
    return await fetch(`http://127.0.0.1:${this.metricsPort}${path}`);
  }

  async stopDaemon(): Promise<void> {
    await this.#lab.killDaemon("SIGTERM");
  }

  async remove(): Promise<void> {
    await this.#lab.remove();
  }

  async #startDaemon(settings: object): Promise<void> {
    const confs = this.#lab.path("net.d");
    await mkdir(confs);
    const ipam = { type: "host-local", subnet: "10.88.0.0/24", dataDir: this.#lab.path("leases") };
    const primary = { cniVersion: "1.0.0", name: "main", plugins: [{ type: "ptp", ipam }] };
    const clusterNetwork = join(confs, "10-main.conflist");
    await writeFile(clusterNetwork, JSON.stringify(primary));
    await this.#lab.configure({
      directory: null,
      kubeconfig: await this.#server.kubeconfig(),
      ...{ metricsPort: this.metricsPort, binDir: distributionPlugins, gcIntervalMs },
      ...{ cniConfigDir: confs, clusterNetwork },
      ...settings,
    });
    await this.#lab.startDaemon({ MULTUS_NODE_NAME: toldNode });
    await this.#lab.startHand();
  }

  /** The objects by which the console knows that a daemon is there. */
  #tellServer(): void {
    const labels = { "app.kubernetes.io/name": "levee", "app.kubernetes.io/component": "daemon" };
    const containers = [{ name: "levee", image: "example.com/none" }];
    const template = { metadata: { labels }, spec: { containers } };
    const apply = (object: object): void => void this.#server.must(["apply", "-f", "-"], JSON.stringify(object));
    apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const conditions = [{ type: "Ready", status: "True" }];
    const status = { addresses: [{ type: "InternalIP", address }], conditions };
    this.#server.must(
      ["create", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: toldNode }, status }),
    );
    const metadata = { name: "levee", namespace: "levee-system", labels };
    apply({
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata,
      spec: { selector: { matchLabels: labels }, template },
    });
    const owner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "levee", uid: "none" };
    const own = { name: "levee-told", namespace: "levee-system", labels, ownerReferences: [owner] };
    apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata: own,
      spec: { nodeName: toldNode, hostNetwork: true, containers },
    });
  }

  async #runs(name: string): Promise<void> {
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: "PodReadyToStartContainers", status: "True", lastTransitionTime }];
    const type = "application/merge-patch+json";
    const path = `/api/v1/namespaces/shop/pods/${name}/status`;
    const body = { status: { phase: "Running", podIP: "10.88.0.9", conditions } };
    const { code, text } = await this.#server.ask({ method: "PATCH", path, body, type });
    if (code !== 200) throw new Error(text);
  }
}
