import { readdirSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { netnsFolder, netnsPath, requireToolSuccess } from "../node/netns.ts";
import { runProgram } from "../run-program.ts";

/** Enough for thousands at once on a busy machine. */
const batchTimeoutMs = 300_000;

/** Network namespaces with a common prefix, made and removed by one `ip` for all of them. */
export class NetnsBatch {
  readonly #clock: Clock;
  readonly #env: Readonly<Record<string, string>>;
  readonly prefix: string;

  constructor(clock: Clock, env: Readonly<Record<string, string>>, prefix: string) {
    this.#clock = clock;
    this.#env = env;
    this.prefix = prefix;
  }

  path(name: string): string {
    return netnsPath(this.prefix + name);
  }

  async add(names: readonly string[]): Promise<void> {
    await this.#batch(
      names.map((name) => `netns add ${this.prefix}${name}`),
      "Cannot make network namespaces",
    );
  }

  /** Replaces a namespace by a new one, because a runtime gives each sandbox its own. */
  async renew(name: string): Promise<void> {
    await this.#batch(
      [`netns del ${this.prefix}${name}`, `netns add ${this.prefix}${name}`],
      `Cannot renew the network namespace ${this.prefix}${name}`,
    );
  }

  /** The existing ones, whichever storm made them. */
  existing(): readonly string[] {
    try {
      return readdirSync(netnsFolder).filter((name) => name.startsWith(this.prefix));
    } catch {
      return []; // No namespace was ever made on this machine.
    }
  }

  async removeAll(): Promise<void> {
    await this.#batch(
      this.existing().map((name) => `netns del ${name}`),
      "Cannot remove network namespaces",
    );
  }

  async #batch(lines: readonly string[], doing: string): Promise<void> {
    if (lines.length === 0) return;
    const end = await runProgram(this.#clock, {
      file: "ip",
      // -force continues after a failed line, so the others are still made or removed.
      args: ["-force", "-batch", "-"],
      env: this.#env,
      input: `${lines.join("\n")}\n`,
      timeoutMs: batchTimeoutMs,
      isApart: true,
    });
    requireToolSuccess({ isRoot: true }, end, doing);
  }
}
