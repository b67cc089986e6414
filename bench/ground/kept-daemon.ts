import { spawn, type ChildProcess } from "node:child_process";
import { systemClock, type Cancel } from "../../src/base/clock.ts";
import type { LimitedGroup } from "../../src/cli/storm/limited-group.ts";
import { until } from "../../test/e2e/until.ts";

/** Kubelet's crash back-off. */
const backOffMs = 10_000;
const backOffMaxMs = 300_000;
const logCharsMax = 20_000;

export interface DaemonOptions {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly group: LimitedGroup;
  /** Whether it does what it is for. */
  isUp(): Promise<boolean>;
  /** What is put before the command line, outside of the group. */
  readonly before?: readonly string[];
}

/** A daemon in its cgroup, kept as kubelet keeps a container: started again with a growing pause, killed whole on OOM. */
export class KeptDaemon {
  readonly #options: DaemonOptions;
  #child: ChildProcess | undefined;
  #log = "";
  #starts = 0;
  #oomKills = 0;
  #pauseMs = backOffMs;
  #isEnding = false;
  #isKilledByUs = false;
  #stopWatching: Cancel = () => undefined;
  #cancelRestart: Cancel = () => undefined;

  constructor(options: DaemonOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#stopWatching = this.#options.group.watchOom(() => (this.#oomKills += 1));
    this.#launch();
    await until(
      "the daemon is up",
      async () => {
        if (this.#child?.exitCode !== null) throw new Error(`It has ended: ${this.#log.slice(-2_000)}`);
        return (await this.#options.isUp()) || undefined;
      },
      { everyMs: 50 },
    );
  }

  get restarts(): number {
    return this.#starts - 1;
  }

  /** Times that the kernel killed in it for memory, upon which all of it was killed. */
  get oomKills(): number {
    return this.#oomKills;
  }

  get log(): string {
    return this.#log;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Kills it; it comes back at once, as it does the first time in a cluster. */
  kill(): void {
    this.#isKilledByUs = true;
    this.#options.group.killAll();
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    this.#stopWatching();
    this.#cancelRestart();
    const child = this.#child;
    this.#options.group.killAll();
    if (child !== undefined && child.exitCode === null && child.signalCode === null)
      await new Promise<void>((resolve) => child.once("exit", () => resolve()));
  }

  #launch(): void {
    const { command, env, group, before = [] } = this.#options;
    const [program = "", ...args] = [...before, ...group.inside(command)];
    this.#starts += 1;
    const child = spawn(program, args, { env: { ...env }, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (this.#log = (this.#log + chunk.toString()).slice(-logCharsMax)));
    child.once("exit", () => this.#onExit());
    this.#child = child;
  }

  #onExit(): void {
    if (this.#isEnding) return;
    const waitMs = this.#isKilledByUs ? 0 : this.#pauseMs;
    if (!this.#isKilledByUs) this.#pauseMs = Math.min(this.#pauseMs * 2, backOffMaxMs);
    this.#isKilledByUs = false;
    this.#cancelRestart = systemClock.after(waitMs, () => this.#launch());
  }
}
