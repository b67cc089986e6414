import type { Cluster } from "../../test/e2e/cluster.ts";
import { ofLevee, ofMachine } from "../../test/e2e/leftovers.ts";
import { loadImages } from "../../test/e2e/installed/the-installed.ts";
import { InstalledLevee, withSettings } from "../../test/e2e/installed/installed-levee.ts";
import type { KubeObject } from "../../test/e2e/api.ts";
import type { Contender, Limits } from "./contender.ts";
import { dropPageCache } from "../ground/page-cache.ts";
import { containerGroup, type ContainerGroup } from "./container-group.ts";

/** The plugins of the node's networks. They are named, because their programs lack the marks of upstream's releases. */
const settled = withSettings({ builtinPlugins: ["bridge", "host-local", "tuning"] });

/** Levee as shipped: install.yaml of its release. Only the daemon's limits may differ, and the plugins are named. */
export class Levee implements Contender {
  readonly #cluster: Cluster;
  readonly #levee: InstalledLevee;
  readonly #limits: Limits | undefined;
  #group: ContainerGroup | undefined;

  constructor(cluster: Cluster, limits?: Limits) {
    this.#cluster = cluster;
    this.#levee = new InstalledLevee(cluster);
    this.#limits = limits;
  }

  async start(): Promise<void> {
    await this.#cluster.startControllers();
    loadImages();
    dropPageCache();
    await this.#levee.install((object) => settled(this.#limited(object)));
    const pod = await this.#levee.daemon.pod();
    this.#group = containerGroup(pod.status?.containerStatuses?.[0]?.containerID ?? "");
    // The processors are the node's; controllers are on another one.
    await this.#cluster.controllers.stop();
  }

  group(): ContainerGroup | undefined {
    return this.#group;
  }

  async restarts(): Promise<number> {
    const pod = await this.#levee.daemon.pod();
    return pod.status?.containerStatuses?.[0]?.restartCount ?? 0;
  }

  async story(): Promise<string> {
    return (await fetch("http://127.0.0.1:9810/metrics")).text();
  }

  async left(): Promise<readonly string[]> {
    return [...(await ofLevee(this.#levee)), ...ofMachine()];
  }

  tend(): void {
    // The kubelet restarts it.
  }

  #limited(object: KubeObject): KubeObject {
    if (this.#limits === undefined || object.kind !== "DaemonSet" || object.metadata.name !== "levee") return object;
    const amounts = { cpu: `${this.#limits.cpuMilliMax}m`, memory: String(this.#limits.memoryBytesMax) };
    const { spec } = object as DaemonSetObject;
    const containers = spec.template.spec.containers.map((container) => ({
      ...container,
      resources: { requests: amounts, limits: amounts },
    }));
    return {
      ...object,
      spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers } } },
    };
  }
}

interface DaemonSetObject extends KubeObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly object[] } } };
}
