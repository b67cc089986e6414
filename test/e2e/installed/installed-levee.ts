import { existsSync, readFileSync } from "node:fs";
import type { NodeAnswer, Question } from "../../../src/wire/node-view.ts";
import { ask } from "../../lab/ask.ts";
import type { KubeObject } from "../api.ts";
import type { Cluster } from "../cluster.ts";
import { objectsIn, pathOf } from "../manifests.ts";
import { generatedConf, leveeNamespace } from "../node/levee-node.ts";
import { requestToken } from "../service-account.ts";
import { until } from "../until.ts";
import { BuildOfLevee } from "./build-of-levee.ts";
import { DaemonSet } from "./daemon-set.ts";

type Settings = Readonly<Record<string, unknown>>;

/** A way to install Levee: the files of a release, and what they make. */
export interface Way {
  readonly manifest: string;
  readonly away: string;
  readonly namespace: string;
  readonly daemonSet: string;
  readonly container: string;
  readonly socketDir: string;
}

export const ownWay: Way = {
  manifest: "install.yaml",
  away: "uninstall.yaml",
  namespace: leveeNamespace,
  daemonSet: "levee",
  container: "daemon",
  socketDir: "/run/levee",
};

/** With the names of Multus' manifest. */
export const dropInWay: Way = {
  manifest: "multus-drop-in.yaml",
  away: "multus-drop-in-uninstall.yaml",
  namespace: "kube-system",
  daemonSet: "kube-multus-ds",
  container: "kube-multus",
  socketDir: "/run/multus",
};

/** What a site changes in an object of the manifest before it applies it. */
export type Change = (object: KubeObject) => KubeObject;

/** Levee as people have it: its image, the manifests of its release, and the pods that the DaemonSets' controller makes. */
export class InstalledLevee {
  readonly daemon: DaemonSet;
  readonly hand: DaemonSet;
  readonly #cluster: Cluster;
  readonly #way: Way;

  constructor(cluster: Cluster, way = ownWay) {
    const { namespace, daemonSet, container } = way;
    this.#cluster = cluster;
    this.#way = way;
    this.daemon = new DaemonSet(cluster, { namespace, name: daemonSet, container });
    this.hand = new DaemonSet(cluster, { namespace, name: "levee-hand", container: "hand" });
  }

  /** As docs/install.md says: `kubectl apply -f`. */
  async install(change?: Change): Promise<void> {
    this.apply(BuildOfLevee.current(), change);
    await this.untilRolledOut();
  }

  /** Applies the manifest of a build, and waits for nothing. */
  apply(build: BuildOfLevee, change?: Change): void {
    const text = build.manifest(this.#way.manifest);
    this.#cluster.kubectl(["apply", "-f", "-"], change === undefined ? text : listOf(objectsIn(text).map(change)));
  }

  async untilRolledOut(): Promise<void> {
    for (const set of [this.daemon, this.hand]) await set.untilRolledOut();
    await this.untilServing();
  }

  /** The shipped settings and these; the daemon reads them at its next start. */
  configure(settings: Settings = {}): void {
    const maps = objectsIn(BuildOfLevee.current().manifest(this.#way.manifest)).filter(
      ({ kind }) => kind === "ConfigMap",
    );
    this.#cluster.kubectl(["apply", "-f", "-"], listOf(maps.map(withSettings(settings))));
  }

  /** Both DaemonSets have their pod on the node again. */
  async start(): Promise<void> {
    for (const set of [this.daemon, this.hand]) if (!(await set.isStarted())) await set.start();
    await this.untilServing();
  }

  async stop(): Promise<void> {
    for (const set of [this.hand, this.daemon]) await set.stop();
  }

  async restart(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    await this.daemon.restart(signal);
    await this.untilServing();
  }

  async untilServing(): Promise<void> {
    await until("the daemon answers", () => this.ask<NodeAnswer>({ ask: "node" }));
    await until("the daemon has made its conf", () => existsSync(generatedConf) || undefined);
  }

  async isInstalled(): Promise<boolean> {
    return (await this.#cluster.api.find(pathOf("DaemonSet", this.#way.namespace, this.#way.daemonSet))) !== undefined;
  }

  /** As docs/install.md says: the manifest that takes the conf away on each node, then everything. */
  async uninstall(): Promise<void> {
    if (!(await this.isInstalled())) return;
    const text = BuildOfLevee.current().manifest(this.#way.away);
    this.#cluster.kubectl(["apply", "-f", "-"], text);
    await this.daemon.untilRolledOut();
    this.#cluster.kubectl(["delete", "-f", "-"], text);
  }

  ask<T>(question: Question): Promise<T> {
    return ask<T>(this.#way.socketDir, question);
  }

  /** A token with the rights of the daemon's pod, as long as this pod is there. */
  async token(): Promise<string> {
    const { namespace } = this.#way;
    const { metadata } = await this.daemon.pod();
    const bound = { kind: "Pod", apiVersion: "v1", name: metadata.name, uid: metadata.uid ?? "" } as const;
    return requestToken(this.#cluster.api, { namespace, name: "levee" }, bound);
  }

  /** The most memory that the daemon's process has had, files that it has mapped included. */
  memoryPeakBytes(): number {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${this.daemon.pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  }
}

/** The settings in the ConfigMap of a manifest, with these in addition. */
export function withSettings(settings: Settings): Change {
  const file = "daemon-config.json";
  return (object) => {
    if (object.kind !== "ConfigMap") return object;
    const data = object["data"] as Readonly<Record<string, string>>; // Kubernetes' own shape
    const shipped = JSON.parse(data[file] ?? "{}") as Settings;
    return { ...object, data: { ...data, [file]: JSON.stringify({ ...shipped, ...settings }, undefined, 2) } };
  };
}

function listOf(items: readonly KubeObject[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
