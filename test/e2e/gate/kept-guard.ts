import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PolicyServer } from "../policy-server.ts";
import { Program } from "../program.ts";

const program = join(import.meta.dir, "../../../dist/levee");
/** Kubelet's first pause is ten seconds; a test has less time. */
const restartMs = 1_000;

/** One guard with the token of its own account. On a busy machine it may lose its lease and end: it is started again. */
export class KeptGuard {
  readonly #program: Program;
  #isWanted = false;
  #keeping: Promise<void> = Promise.resolve();

  private constructor(kept: Program) {
    this.#program = kept;
  }

  static async make(server: PolicyServer, folder: string, more: readonly string[]): Promise<KeptGuard> {
    const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
    const config = {
      "current-context": "g",
      "contexts": [{ name: "g", context: { cluster: "g", user: "g" } }],
      "clusters": [{ name: "g", cluster: { "server": server.url, "insecure-skip-tls-verify": true } }],
      "users": [{ name: "g", user: { token } }],
    };
    const file = join(folder, "guard-kubeconfig");
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    const command = [program, "guard", "--kubeconfig", file, "--git-folder", join(folder, "git"), ...more];
    return new KeptGuard(new Program(folder, "guard", { command }));
  }

  start(): void {
    this.#isWanted = true;
    this.#keeping = this.#keep();
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    await this.#program.stop("SIGKILL");
    await this.#keeping;
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.#program.pid, signal);
  }

  said(): string {
    return this.#program.logTail(10);
  }

  async #keep(): Promise<void> {
    while (this.#isWanted) {
      if (!this.#program.isRunning) this.#program.start();
      await Bun.sleep(restartMs);
    }
  }
}
