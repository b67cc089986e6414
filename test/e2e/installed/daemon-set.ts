import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "../api.ts";
import type { Cluster } from "../cluster.ts";
import { pathOf } from "../manifests.ts";
import type { Pod } from "../pods.ts";
import { until } from "../until.ts";
import { runningContainers } from "../node/containerd.ts";

export interface DaemonSetName {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

interface DaemonSetObject extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number;
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberAvailable?: number;
  };
}

/** A label that no node has. */
const nowhere = "levee.test/nowhere";
const logs = "/var/log/pods";

/** A DaemonSet, whose one pod on the node comes and goes as its controller and the kubelet have it. */
export class DaemonSet {
  readonly #cluster: Cluster;
  readonly #own: DaemonSetName;

  constructor(cluster: Cluster, own: DaemonSetName) {
    this.#cluster = cluster;
    this.#own = own;
  }

  /** Takes the pod off the node until `start`; its process ends by the signal. */
  async stop(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const pid = signal === "SIGKILL" ? this.pid : undefined;
    // Frozen, it does not hear that it should end.
    if (pid !== undefined) process.kill(pid, "SIGSTOP");
    await this.#select({ [nowhere]: "yes" });
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    await until(`the pod of ${this.#own.name} is gone`, async () =>
      (await this.pods()).length === 0 ? true : undefined,
    );
  }

  async start(): Promise<void> {
    await this.#select({ [nowhere]: null });
    await this.untilRolledOut();
  }

  /** By SIGTERM with a new pod; a killed process comes back in the same one. */
  async restart(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    const { namespace, name } = this.#own;
    if (signal === "SIGTERM") {
      this.#cluster.kubectl(["-n", namespace, "rollout", "restart", `daemonset/${name}`]);
      await this.untilRolledOut();
      return;
    }
    const { pid } = this;
    process.kill(pid, "SIGKILL");
    await this.untilAnother(pid);
  }

  /** Every pod of it has its present template, and is ready. */
  async untilRolledOut(timeoutMs = 120_000): Promise<void> {
    await until(
      `the DaemonSet ${this.#own.name} is rolled out`,
      async () => {
        const { metadata, status = {} } = await this.#object();
        const counts = [status.desiredNumberScheduled, status.updatedNumberScheduled, status.numberAvailable];
        if (status.observedGeneration === metadata["generation"] && counts.every((count) => count === 1)) return true;
        throw new Error(`${JSON.stringify(status)}; ${await this.#waiting()}`);
      },
      { timeoutMs, everyMs: 200 },
    );
  }

  /** Waits until its container runs with another first process than this one. */
  async untilAnother(pid: number): Promise<void> {
    await until(`${this.#own.name} runs again`, () => this.#pids().some((other) => other !== pid) || undefined);
  }

  /** Whether it is in the cluster, and not taken off the node. */
  async isStarted(): Promise<boolean> {
    const found = await this.#cluster.api.find<DaemonSetObject>(this.#path);
    return (found?.status?.desiredNumberScheduled ?? 0) === 1;
  }

  async pods(): Promise<readonly Pod[]> {
    const { namespace, name } = this.#own;
    const pods = await this.#cluster.pods.list(namespace);
    return pods.filter(({ metadata }) => ownerOf(metadata) === name);
  }

  /** Its only pod. */
  async pod(): Promise<Pod> {
    const pods = await this.pods();
    const [pod] = pods;
    if (pod === undefined || pods.length > 1) throw new Error(`${this.#own.name} has ${pods.length} pods`);
    return pod;
  }

  /** The first process of its container. */
  get pid(): number {
    const [pid] = this.#pids();
    if (pid === undefined) throw new Error(`${this.#own.name} is not running`);
    return pid;
  }

  /** Everything that its containers have written, oldest first. */
  get log(): string {
    const { namespace, name, container } = this.#own;
    const folders = readdirSync(logs).filter((folder) => folder.startsWith(`${namespace}_${name}-`));
    return folders.map((folder) => logsIn(join(logs, folder, container))).join("");
  }

  #pids(): readonly number[] {
    return runningContainers(this.#own.namespace, this.#own.container).map(({ pid }) => pid);
  }

  async #select(nodeSelector: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#cluster.api.patch(this.#path, { spec: { template: { spec: { nodeSelector } } } });
  }

  #object(): Promise<DaemonSetObject> {
    return this.#cluster.api.get<DaemonSetObject>(this.#path);
  }

  /** What its pods wait for, for the reader of a failed test. */
  async #waiting(): Promise<string> {
    return (await this.pods()).map((pod) => `${pod.metadata.name}: ${JSON.stringify(pod.status)}`).join("; ");
  }

  get #path(): string {
    return pathOf("DaemonSet", this.#own.namespace, this.#own.name);
  }
}

function ownerOf(metadata: KubeObject["metadata"]): string {
  const owners = metadata["ownerReferences"] as readonly { readonly name: string }[] | undefined; // Kubernetes' own shape
  return owners?.[0]?.name ?? "";
}

function logsIn(folder: string): string {
  try {
    return readdirSync(folder)
      .toSorted()
      .map((file) => readFileSync(join(folder, file), "utf8"))
      .join("");
  } catch {
    // A pod of another DaemonSet, or one that has not written yet.
    return "";
  }
}
