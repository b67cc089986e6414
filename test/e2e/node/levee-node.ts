import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NodeAnswer, Question } from "../../../src/wire/node-view.ts";
import { ask } from "../../lab/ask.ts";
import { nodeName } from "../machine.ts";
import { applyAll, manifest, pathOf } from "../manifests.ts";
import { confFolder } from "../networks.ts";
import { podObject } from "../pods.ts";
import { Program } from "../program.ts";
import { run } from "../run.ts";
import { requestToken, writeServiceAccount } from "../service-account.ts";
import { apiHost, apiPort } from "./api-server.ts";
import type { ClusterNode } from "./cluster-node.ts";

const dist = join(import.meta.dir, "../../../dist");
export const leveeProgram = join(dist, "levee");
export const shimProgram = join(dist, "levee-shim");
export const leveeNamespace = "levee-system";
const account = { namespace: leveeNamespace, name: "levee" };
const configFolder = "/etc/levee";
const configFile = `${configFolder}/daemon-config.json`;
const accountFolder = "/etc/levee/service-account";
const socketDir = "/run/levee";
export const stateDir = "/var/lib/levee";
export const generatedConf = `${confFolder}/00-levee.conf`;
/** The limit of the shipped manifest. */
const memoryBytesMax = 96 * 1024 * 1024;
/** Root with no capability at all, and no way to get one: as the shipped manifest says. */
const unprivileged = ["setpriv", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs"];

/** Levee as its manifests run it, less the containers: rights, configuration, user, capabilities and limits are the shipped ones. */
export class LeveeNode {
  readonly daemon: Program;
  readonly hand: Program;
  readonly memoryCgroup: string;
  readonly #node: ClusterNode;
  #generation = 0;
  #token = "";

  constructor(node: ClusterNode) {
    this.#node = node;
    this.memoryCgroup = node.machine.memoryCgroup("levee", memoryBytesMax);
    this.daemon = this.#program("levee", this.memoryCgroup);
    this.hand = new Program(node.machine.logFolder, "levee-hand", {
      command: [shimProgram, "--resident", "--socket-dir", socketDir],
    });
  }

  /** Everything of the manifests but the DaemonSets, for which there is no controller here. */
  async install(settings: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const { api } = this.#node;
    for (const file of ["namespace", "access", "admission-policy", "config"])
      await applyAll(api, manifest(`base/${file}.yaml`));
    await this.#node.addNamespace(leveeNamespace);
    run(leveeProgram, "install", "--dest", "/opt/cni/bin");
    this.configure(settings);
    await this.renewToken();
  }

  /** The shipped configuration, with the host's folders where the host has them. */
  configure(settings: Readonly<Record<string, unknown>> = {}): void {
    const map = manifest("base/config.yaml")[0] as unknown as { data: Readonly<Record<string, string>> };
    const shipped = JSON.parse((map.data["daemon-config.json"] ?? "{}").replaceAll('"/host/', '"/')) as object;
    mkdirSync(configFolder, { recursive: true });
    writeFileSync(configFile, JSON.stringify({ ...shipped, ...settings }, undefined, 2));
  }

  async start(): Promise<void> {
    this.startPrograms();
    await this.untilServing();
  }

  /** On a node without a primary network there is nothing to wait for: the runtime cannot find Levee yet. */
  startPrograms(): void {
    this.daemon.start();
    if (!this.hand.isRunning) this.hand.start();
  }

  async untilAnswering(program = this.daemon): Promise<void> {
    await program.untilUp("answers", async () => (await this.ask<NodeAnswer>({ ask: "node" })) !== undefined);
  }

  async untilServing(program = this.daemon): Promise<void> {
    await this.untilAnswering(program);
    await program.untilUp("has made its conf", async () => existsSync(generatedConf));
  }

  async restart(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.daemon.restart(signal);
    await this.untilServing();
  }

  async stop(): Promise<void> {
    for (const program of [this.hand, this.daemon]) await program.stop();
  }

  ask<T>(question: Question): Promise<T> {
    return ask<T>(socketDir, question);
  }

  /** The command line, as a person on the node uses it. */
  cli(...args: readonly string[]): string {
    return run(leveeProgram, ...args);
  }

  /** A token bound to a pod of this node, as a DaemonSet's pod has it. The one before ends with the pod it was bound to. */
  async renewToken(): Promise<void> {
    const { api } = this.#node;
    const previous = this.#holder;
    this.#generation += 1;
    const wish = { name: this.#holder, namespace: leveeNamespace, serviceAccount: account.name };
    const object = podObject({ ...wish, hostNetwork: true, isPlain: true });
    const pod = await api.create(pathOf("Pod", leveeNamespace), object);
    const boundTo = { kind: "Pod", apiVersion: "v1", name: this.#holder, uid: pod.metadata.uid ?? "" } as const;
    this.#token = await requestToken(api, account, boundTo);
    writeServiceAccount(accountFolder, {
      token: this.#token,
      caFile: this.#node.caFile,
      namespace: leveeNamespace,
    });
    if (this.#generation > 1) await api.delete(pathOf("Pod", leveeNamespace, previous), { gracePeriodSeconds: 0 });
  }

  /** Takes everything off the node again, as `levee uninstall` leaves it. */
  async uninstall(): Promise<void> {
    await this.stop();
    rmSync(generatedConf, { force: true });
  }

  get #holder(): string {
    return `levee-on-${nodeName}-${this.#generation}`;
  }

  #program(name: string, memoryCgroup: string): Program {
    return new Program(this.#node.machine.logFolder, name, {
      command: [...unprivileged, leveeProgram, "daemon", "--config", configFile],
      cgroups: [memoryCgroup],
      env: {
        KUBERNETES_SERVICE_HOST: apiHost,
        KUBERNETES_SERVICE_PORT: apiPort,
        LEVEE_SERVICE_ACCOUNT_DIR: accountFolder,
        MULTUS_NODE_NAME: nodeName,
      },
    });
  }
}
