import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PolicyServer } from "../policy-server.ts";
import { Program } from "../program.ts";

const program = join(import.meta.dir, "../../../dist/levee");
/** Kubelet's first pause is ten seconds; a test has less time. */
const restartMs = 2_000;

/** The guard as it is shipped, two of them, with the token of their own service account. */
export class GuardReplicas {
  readonly #server: PolicyServer;
  readonly #replicas: readonly Program[];
  #isStopped = true;
  #ended: Promise<void> = Promise.resolve();

  private constructor(server: PolicyServer, replicas: readonly Program[]) {
    this.#server = server;
    this.#replicas = replicas;
  }

  /** `more`: further options of the command. */
  static async make(server: PolicyServer, folder: string, more: readonly string[] = []): Promise<GuardReplicas> {
    const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
    const config = {
      "current-context": "g",
      "contexts": [{ name: "g", context: { cluster: "g", user: "g" } }],
      "clusters": [{ name: "g", cluster: { "server": server.url, "insecure-skip-tls-verify": true } }],
      "users": [{ name: "g", user: { token } }],
    };
    const file = join(folder, "guard-kubeconfig");
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    const replicas = ["guard-a", "guard-b"].map((name) => {
      const command = [program, "guard", "--kubeconfig", file, "--git-folder", join(folder, `${name}-git`), ...more];
      return new Program(folder, name, { command });
    });
    return new GuardReplicas(server, replicas);
  }

  /** One that ends is started again after a moment, as kubelet would. */
  start(): void {
    this.#isStopped = false;
    this.#ended = this.#keepRunning();
  }

  /** `holderIdentity` of the Lease; empty while no guard leads. */
  leader(): string {
    const path = "jsonpath={.spec.holderIdentity}";
    return this.#server.kubectl(["-n", "levee-system", "get", "lease", "levee-guard", "-o", path]).stdout;
  }

  /** The process that leads, by what each wrote down. */
  leading(): Program {
    const leader = this.leader();
    const found = this.#replicas.find(
      ({ log, isRunning }) => isRunning && leader !== "" && log.includes(`"${leader}"`),
    );
    if (found === undefined) throw new Error(`No guard that runs here is the leader "${leader}"`);
    return found;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
    for (const replica of this.#replicas) await replica.stop("SIGKILL");
  }

  /** The logs of both, for debugging. */
  said(): string {
    return this.#replicas.map(({ log }) => log).join("");
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isStopped) {
      for (const replica of this.#replicas) if (!replica.isRunning) replica.start();
      await Bun.sleep(restartMs);
    }
  }
}
