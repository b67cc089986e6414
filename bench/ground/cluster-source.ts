import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { podText, type PodKey } from "../../src/cli/node/names.ts";
import type { FleetPod } from "../../src/cli/storm/fleet.ts";
import { Api, ApiFailure, type KubeObject } from "../../test/e2e/api.ts";
import { applyAll, manifest, pathOf } from "../../test/e2e/manifests.ts";
import { adminToken, PolicyServer } from "../../test/e2e/policy-server.ts";
import { serviceAccountFolder } from "../../test/e2e/service-account.ts";
import { pause, until } from "../../test/e2e/until.ts";
import { networkNamespace, podNamespaces, type NodeSource, type PodWish } from "./node-source.ts";

const nodeName = "bench-node";
const conflict = 409;
/** Enough to keep one API server on two cores busy. */
const requestsAtOnce = 8;

/** A real kube-apiserver with etcd, which Levee and Multus both use as they would in a pod. */
export class ClusterSource implements NodeSource {
  readonly label = "a real API server";
  readonly settings = {};
  readonly env: Readonly<Record<string, string>>;
  readonly #server: PolicyServer;
  readonly #api: Api;
  readonly #uids = new Map<string, string>();

  private constructor(server: PolicyServer) {
    this.#server = server;
    this.#api = new Api(server.url, server.caFile, () => adminToken);
    this.env = {
      KUBERNETES_SERVICE_HOST: "127.0.0.1",
      KUBERNETES_SERVICE_PORT: new URL(server.url).port,
      MULTUS_NODE_NAME: nodeName,
    };
  }

  static async start(): Promise<ClusterSource> {
    const source = new ClusterSource(await PolicyServer.start());
    try {
      await source.#furnish();
      return source;
    } catch (thrown) {
      await source.stop();
      throw thrown;
    }
  }

  async addNetwork(name: string, conf: unknown): Promise<void> {
    const head = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
    const metadata = { name, namespace: networkNamespace };
    await applyAll(this.#api, [{ ...head, metadata, spec: { config: JSON.stringify(conf) } }]);
  }

  async addPods(wishes: readonly PodWish[]): Promise<readonly FleetPod[]> {
    const missing = wishes.filter((pod) => !this.#uids.has(podText(pod)));
    const makeNext = async (): Promise<void> => {
      for (let pod = missing.shift(); pod !== undefined; pod = missing.shift()) await this.#addPod(pod);
    };
    await Promise.all(Array.from({ length: requestsAtOnce }, makeNext));
    return wishes.map(({ namespace, name }) => ({
      namespace,
      name,
      uid: this.#uids.get(podText({ namespace, name })) ?? "",
    }));
  }

  async removePod(pod: PodKey): Promise<void> {
    await this.#api.delete(pathOf("Pod", pod.namespace, pod.name), { gracePeriodSeconds: 0 });
    this.#uids.delete(podText(pod));
  }

  /** Ends the API server, waits for a while, starts the next one and waits until it serves. */
  async restartServer(signal: NodeJS.Signals, awayMs: number): Promise<void> {
    await this.#server.stopApiServer(signal);
    await pause(awayMs);
    await this.#server.startApiServer();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  async #addPod({ namespace, name, annotations, isCritical = false }: PodWish): Promise<void> {
    const made = await this.#createOnce(pathOf("Pod", namespace), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, annotations },
      spec: {
        nodeName,
        containers: [{ name: "main", image: "main" }],
        ...(isCritical ? { priorityClassName: "system-node-critical" } : {}),
      },
    });
    this.#uids.set(podText({ namespace, name }), made.metadata.uid ?? "");
  }

  /** A request may have succeeded even if the server was killed before it answered. */
  async #createOnce(path: string, object: KubeObject): Promise<KubeObject> {
    try {
      return await this.#api.create(path, object);
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure) || thrown.status !== conflict) throw thrown;
      return this.#api.get(`${path}/${object.metadata.name}`);
    }
  }

  async #furnish(): Promise<void> {
    // The path that every in-cluster client reads. This process has its own /run.
    mkdirSync(serviceAccountFolder, { recursive: true });
    const files = {
      "token": adminToken,
      "ca.crt": readFileSync(this.#server.caFile, "utf8"),
      "namespace": "kube-system",
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(serviceAccountFolder, name), content);
    await applyAll(this.#api, manifest("crd/network-attachment-definition.yaml"));
    for (const name of ["kube-system", networkNamespace, ...podNamespaces])
      await applyAll(this.#api, [{ apiVersion: "v1", kind: "Namespace", metadata: { name } }]);
    await until("networks can be made", () =>
      this.#api.find("/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"),
    );
    await until("pods can be critical", () =>
      this.#api.find("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical"),
    );
  }
}
