import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Cancel, Clock } from "../../base/clock.ts";
import { CommandFailure } from "../failure.ts";
import type { LimitedGroup } from "./machine/limited-group.ts";

interface KeptDaemonOptions {
  readonly clock: Clock;
  readonly command: readonly [string, ...string[]];
  /** A program with arguments that starts the command and itself stays outside the group. */
  readonly outside?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The daemon runs in this group. If the kernel kills one process, all of them die. */
  readonly group: LimitedGroup;
  /** The file to which its output is appended. */
  readonly log: string;
  /** Waits before each restart; the last one repeats. */
  readonly backOffMs?: readonly number[];
}

/** kubelet notices the first death within a second and restarts at once. Then it waits 10 s, doubling up to five minutes. */
const kubeletBackOffMs = [1000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000] as const;

/** The daemon waits 10 s for running calls before it ends by itself. */
const stopGraceMs = 15_000;

/** A daemon in a limited group. It is restarted when it ends, as kubelet does with a container. */
export class KeptDaemon {
  readonly #options: KeptDaemonOptions;
  #process: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #isStopping = false;
  #cancelRestart: Cancel = () => undefined;
  #unwatch: Cancel = () => undefined;
  #restarts = 0;
  #oomKills = 0;
  readonly #ends: string[] = [];

  constructor(options: KeptDaemonOptions) {
    this.#options = options;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** How often the kernel killed something in the group. */
  get oomKills(): number {
    return this.#oomKills;
  }

  /** How each unexpected end happened: "status 1", "signal SIGKILL". */
  get ends(): readonly string[] {
    return this.#ends;
  }

  /** Undefined while it is down. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    this.#unwatch = this.#options.group.watchOom((oomKills) => (this.#oomKills = oomKills));
    await this.#launch();
  }

  /** Kills the running daemon; it restarts after its wait. */
  kill(): void {
    this.#process?.kill("SIGKILL");
  }

  /** Ends it for good: first SIGTERM, then SIGKILL for the whole group. */
  async stop(graceMs = stopGraceMs): Promise<void> {
    this.#isStopping = true;
    this.#cancelRestart();
    this.#process?.kill("SIGTERM");
    const cancel = this.#options.clock.after(graceMs, () => this.#options.group.killAll());
    await this.#ended;
    cancel();
    this.#unwatch();
    this.#oomKills = Math.max(this.#oomKills, this.#options.group.sample().oomKills);
  }

  async #launch(): Promise<void> {
    const { env, group } = this.#options;
    const log = openSync(this.#options.log, "a", 0o600);
    const [file = "", ...args] = [...(this.#options.outside ?? []), ...group.inside(this.#options.command)];
    // In its own session the terminal's Ctrl-C does not reach it; we end it in the right order.
    const child = spawn(file, args, { env: { ...env }, stdio: ["ignore", log, log], detached: true });
    closeSync(log);
    this.#ended = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#process = undefined;
        resolve();
        this.#onEnd(signal === null ? `status ${code ?? "unknown"}` : `signal ${signal}`);
      });
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (cause) =>
        reject(new CommandFailure("start-failed", `Cannot start the daemon: ${cause.message}`, { cause })),
      );
    });
    this.#process = child;
  }

  #onEnd(how: string): void {
    if (this.#isStopping) return;
    this.#ends.push(how);
    const waits = this.#options.backOffMs ?? kubeletBackOffMs;
    const waitMs = waits[Math.min(this.#ends.length - 1, waits.length - 1)] ?? 0;
    this.#cancelRestart = this.#options.clock.after(waitMs, () => {
      this.#restarts += 1;
      // If it cannot start now, try again after the next wait.
      this.#launch().catch((error: unknown) => this.#onEnd(String(error)));
    });
  }
}
