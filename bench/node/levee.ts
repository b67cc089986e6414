import { existsSync } from "node:fs";
import type { Cluster } from "../../test/e2e/cluster.ts";
import { ofLevee, ofMachine } from "../../test/e2e/leftovers.ts";
import { generatedConf, leveeNamespace, socketDir } from "../../test/e2e/node/levee-node.ts";
import { run } from "../../test/e2e/run.ts";
import { importLevee, startShippedPods, type Container } from "../../test/e2e/shipped-pods.ts";
import { until } from "../../test/e2e/until.ts";
import { ask } from "../../test/lab/ask.ts";
import type { Contender, Limits } from "./contender.ts";
import { dropPageCache } from "../ground/page-cache.ts";
import { containerGroup, type ContainerGroup } from "./container-group.ts";

const daemonPod = "shipped-levee";

/** Levee as shipped: the pods of deploy/install.yaml. Only the daemon's limits may differ. */
export class Levee implements Contender {
  readonly #cluster: Cluster;
  readonly #limits: Limits | undefined;
  #group: ContainerGroup | undefined;

  constructor(cluster: Cluster, limits?: Limits) {
    this.#cluster = cluster;
    this.#limits = limits;
  }

  async start(): Promise<void> {
    // As systemd does on every node: the hand must see new mounts of the host.
    run("mount", "--make-rshared", "/");
    importLevee(this.#cluster);
    dropPageCache();
    const pods = await startShippedPods(this.#cluster, "install.yaml", (container) => this.#limited(container));
    await this.#cluster.pods.untilReady(pods, { namespace: leveeNamespace });
    await until("Levee has made its conf", () => existsSync(generatedConf) || undefined);
    const pod = await this.#cluster.pods.get(daemonPod, leveeNamespace);
    this.#group = containerGroup(pod.status?.containerStatuses?.[0]?.containerID ?? "");
  }

  group(): ContainerGroup | undefined {
    return this.#group;
  }

  async restarts(): Promise<number> {
    const pod = await this.#cluster.pods.get(daemonPod, leveeNamespace);
    return pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
  }

  async story(): Promise<string> {
    return (await fetch("http://127.0.0.1:9810/metrics")).text();
  }

  async left(): Promise<readonly string[]> {
    return [...(await ofLevee({ ask: (question) => ask(socketDir, question) })), ...ofMachine()];
  }

  tend(): void {
    // The kubelet restarts it.
  }

  #limited(container: Container): Container {
    if (this.#limits === undefined || container.name !== "daemon") return container;
    const amounts = { cpu: `${this.#limits.cpuMilliMax}m`, memory: String(this.#limits.memoryBytesMax) };
    return { ...container, resources: { requests: amounts, limits: amounts } };
  }
}
