import { spawnSync } from "node:child_process";
import { mkdir, symlink, copyFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { ip, type Lab } from "../../../lab/lab.ts";
import { peerFolder } from "../../../peers/peer.ts";
import type { Api } from "../../api.ts";
import { applyAll, pathOf } from "../../manifests.ts";
import { until } from "../../until.ts";
import { CompatCluster, networksAnnotation, node, type Pod } from "../compat-cluster.ts";
import { MultusNode } from "../compat-multus-node.ts";
import { recorders } from "./draft.ts";
import type { GeneratedCase } from "./generated-case.ts";

const pluginsBin = join(peerFolder("cni-plugins", "v1.9.1"), "bin");
const realPrograms = ["bridge", "bandwidth", "host-local", "macvlan", "portmap", "ptp", "static", "tuning"];
const definitionsPath = "/apis/k8s.cni.cncf.io/v1/namespaces/{}/network-attachment-definitions";

/** One API server, one Multus and one Levee for all cases, on the machine's own network. */
export class Stage {
  readonly cluster: CompatCluster;
  readonly multus: MultusNode;
  readonly api: Api;
  #bridges: readonly string[] = [];

  private constructor(cluster: CompatCluster, multus: MultusNode) {
    this.cluster = cluster;
    this.multus = multus;
    this.api = cluster.api.keepingConnections();
  }

  static async start(): Promise<Stage> {
    // The runtime's conf names the folder of confs: each case has its own.
    const cluster = await CompatCluster.start({ confDir: undefined });
    const { lab } = cluster;
    // Makes /run/netns a mount, which Multus' own /run needs.
    lab.netns("first");
    // Both keep their files in one folder, as on a node that moves from one to the other. Leases they have apart, so that both give out the same addresses.
    const settings = { confDir: undefined, cniDir: lab.cniDir, logLevel: "error" };
    const multus = new MultusNode(lab, { settings, ownFolders: [lab.path("ipam")] });
    const stage = new Stage(cluster, multus);
    try {
      await stage.#furnish();
      await multus.start({ accountFolder: cluster.accountFolder, apiPort: cluster.apiPort, node });
      await lab.startHand();
      return stage;
    } catch (thrown) {
      await stage.stop();
      throw thrown;
    }
  }

  get lab(): Lab {
    return this.cluster.lab;
  }

  /** The parent of macvlan devices. */
  get parent(): string {
    return `lgp${this.lab.id}`;
  }

  async stop(): Promise<void> {
    await this.multus.stop();
    for (const name of this.#bridges) spawnSync("ip", ["link", "delete", name]);
    spawnSync("ip", ["link", "delete", this.parent]);
    await this.cluster.stop();
  }

  /** Writes the files and definitions of all cases, and waits until both daemons have seen them. */
  async set(cases: readonly GeneratedCase[]): Promise<void> {
    this.#bridges = [...JSON.stringify(cases).matchAll(/\\?"bridge\\?":\\?"(lg\w+)/gu)].map(([, name = ""]) => name);
    for (const one of cases) await this.#writeFiles(one);
    const all = cases.flatMap((one) => one.definitions.map((definition) => ({ one, definition })));
    const waiting = all.values();
    const lane = async (): Promise<void> => {
      for (const { one, definition } of waiting) {
        const { name, namespace, config } = definition;
        const spec = config === undefined ? {} : { spec: { config: this.text(one, config) } };
        await this.api.create(definitionsPath.replace("{}", namespace), {
          ...kind,
          metadata: { name, namespace },
          ...spec,
        });
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    await this.#untilSeen();
  }

  /** A text of a case with the stage's own names in it. */
  text(one: GeneratedCase, text: string): string {
    return text
      .replaceAll("{case}", this.lab.path("cases", one.id))
      .replaceAll("{lab}", this.lab.folder)
      .replaceAll("{parent}", this.parent);
  }

  pod(one: GeneratedCase, name: string): Promise<Pod> {
    const annotations = Object.fromEntries(
      Object.entries(one.annotations).map(([key, value]) => [key, this.text(one, value)]),
    );
    return this.#pod(name, one.namespace, annotations);
  }

  async #furnish(): Promise<void> {
    const { lab } = this;
    await copyFile(join(import.meta.dir, "recording-plugin"), lab.path("bin/recording"));
    for (const name of [...recorders, "passthru"]) await symlink("recording", lab.path("bin", name));
    for (const name of realPrograms) await symlink(join(pluginsBin, name), lab.path("bin", name));
    await mkdir(lab.path("ipam"));
    await mkdir(lab.cniDir, { recursive: true });
    await applyAll(this.api, [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } }]);
    ip(["link", "add", this.parent, "type", "veth", "peer", "name", `${this.parent}x`]);
    for (const name of [this.parent, `${this.parent}x`]) ip(["link", "set", name, "up"]);
  }

  async #writeFiles(one: GeneratedCase): Promise<void> {
    for (const [name, text] of Object.entries(one.files)) {
      const file = this.lab.path("cases", one.id, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, this.text(one, text));
    }
  }

  /** Watches tell of objects in their order: once the last definition serves, the others are known. */
  async #untilSeen(): Promise<void> {
    const name = `last-${Date.now().toString(36)}`;
    const config = JSON.stringify({ cniVersion: "1.0.0", type: "first", controlDir: this.lab.path("control") });
    await this.cluster.network(name, config, "nets");
    const pod = await this.#pod(name, "default", { [networksAnnotation]: `nets/${name}` });
    const conf = { delegates: [{ cniVersion: "1.0.0", name, type: "first", controlDir: this.lab.path("control") }] };
    const call = this.cluster.call(pod, conf);
    await until("Multus knows the networks", async () => {
      const isKnown = (await this.multus.complaint("ADD", call, conf)) === undefined;
      await this.multus.complaint("DEL", call, conf);
      return isKnown || undefined;
    });
  }

  #pod(name: string, namespace: string, annotations: Readonly<Record<string, string>>): Promise<Pod> {
    return this.api.create<Pod>(pathOf("Pod", namespace), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, annotations },
      spec: { nodeName: node, containers: [{ name: "main", image: "main" }] },
    });
  }
}

const kind = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition" };
