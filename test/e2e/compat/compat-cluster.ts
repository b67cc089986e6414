import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Lab, type CniCall } from "../../lab/lab.ts";
import { Api, type KubeObject } from "../api.ts";
import { Line } from "./compat-line.ts";
import { applyAll, manifest, pathOf } from "../manifests.ts";
import { adminToken, PolicyServer } from "../policy-server.ts";
import { pause, until } from "../until.ts";

export const node = "node-a";
const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";
export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";
const plugins = ["first", "second", "third"];

export interface Pod extends KubeObject {
  readonly metadata: KubeObject["metadata"] & { readonly uid: string };
}

export interface Event extends KubeObject {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count?: number;
  readonly reportingComponent?: string;
  readonly source: { readonly component?: string; readonly host?: string };
  readonly involvedObject: Readonly<Record<string, string>>;
}

/** A real API server and a lab's daemon and shim that know it; no kubelet and no runtime, the tests call the shim. */
export class CompatCluster {
  readonly lab: Lab;
  readonly api: Api;
  /** Levee's own way to the API server. */
  readonly line: Line;
  readonly server: PolicyServer;
  #containers = 0;

  private constructor(lab: Lab, server: PolicyServer, line: Line) {
    this.lab = lab;
    this.server = server;
    this.line = line;
    this.api = new Api(server.url, server.caFile, () => adminToken);
  }

  static async start(
    settings: Readonly<Record<string, unknown>> = {},
    features: readonly string[] = [],
  ): Promise<CompatCluster> {
    const [lab, server] = await Promise.all([Lab.make(), PolicyServer.start({ features })]);
    const line = await Line.lay(Number(new URL(server.url).port));
    const cluster = new CompatCluster(lab, server, line);
    try {
      await cluster.#furnish();
      await lab.configure({ directory: undefined, deviceInfoDir: lab.path("devinfo"), ...settings });
      await cluster.startDaemon();
      return cluster;
    } catch (thrown) {
      await cluster.stop();
      throw thrown;
    }
  }

  get apiPort(): number {
    return Number(new URL(this.server.url).port);
  }

  get accountFolder(): string {
    return this.lab.path("account");
  }

  async startDaemon(): Promise<void> {
    await this.lab.startDaemon({
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      KUBERNETES_SERVICE_PORT: String(this.line.port),
      LEVEE_SERVICE_ACCOUNT_DIR: this.accountFolder,
      MULTUS_NODE_NAME: node,
    });
  }

  async stop(): Promise<void> {
    await this.lab.remove();
    await this.line.cut();
    await this.server.stop();
  }

  async network(name: string, config: unknown, namespace = "nets"): Promise<void> {
    const spec =
      config === undefined ? {} : { spec: { config: typeof config === "string" ? config : JSON.stringify(config) } };
    const head = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
    await applyAll(this.api, [{ ...head, metadata: { name, namespace }, ...spec }]);
  }

  /** A pod of the node that no kubelet looks after. */
  pod(
    name: string,
    annotations: Readonly<Record<string, string>>,
    options: { namespace?: string; node?: string } = {},
  ) {
    const namespace = options.namespace ?? "default";
    return this.api.create<Pod>(pathOf("Pod", namespace), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, annotations },
      spec: { nodeName: options.node ?? node, containers: [{ name: "main", image: "main" }] },
    });
  }

  /** A call for the pod, in a container and a network namespace of its own. */
  call(pod: Pod, conf: Readonly<Record<string, unknown>>): CniCall {
    this.#containers += 1;
    const id = String(this.#containers);
    const { namespace = "", name, uid } = pod.metadata;
    return {
      containerId: `c${id.padStart(63, "0")}`,
      netns: this.lab.netns(id),
      args: `${this.lab.podArgs(name, namespace)};K8S_POD_INFRA_CONTAINER_ID=infra;K8S_POD_UID=${uid}`,
      // Multus looks for plugins in its own folder only.
      path: this.lab.path("bin"),
      conf: this.lab.shimConf(conf),
    };
  }

  /** Levee's is on its way when ADD answers: one that is not there after a second is not meant to be. */
  async status(pod: Pod): Promise<string | undefined> {
    const endsMs = performance.now() + 1_000;
    for (;;) {
      const found = await this.api.get(pathOf("Pod", pod.metadata.namespace ?? "", pod.metadata.name));
      const status = found.metadata.annotations?.[statusAnnotation];
      if (status !== undefined || performance.now() > endsMs) return status;
      await pause(20);
    }
  }

  /** Events about a pod, once there are as many as expected: after those of a hundred pods before it, five a second. */
  events(pod: Pod, count: number): Promise<readonly Event[]> {
    const { namespace = "", uid } = pod.metadata;
    const path = `/api/v1/namespaces/${namespace}/events?fieldSelector=involvedObject.uid=${uid}`;
    return until(
      `there are ${count} events about ${pod.metadata.name}`,
      async () => {
        const found = await this.api.list<Event>(path);
        return found.length >= count ? found : undefined;
      },
      { timeoutMs: 60_000 },
    );
  }

  async #furnish(): Promise<void> {
    for (const plugin of plugins) await this.lab.plugin(plugin);
    await mkdir(this.accountFolder);
    const ca = await Bun.file(this.server.caFile).text();
    for (const [name, content] of Object.entries({ "token": adminToken, "ca.crt": ca, "namespace": "kube-system" }))
      await writeFile(join(this.accountFolder, name), content);
    await applyAll(this.api, manifest("crd/network-attachment-definition.yaml"));
    for (const name of ["default", "kube-system", "nets", "multus"])
      await applyAll(this.api, [{ apiVersion: "v1", kind: "Namespace", metadata: { name } }]);
    await until("networks can be made", () => this.api.find("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"));
  }
}
