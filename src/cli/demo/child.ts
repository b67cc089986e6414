import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { CommandFailure } from "../failure.ts";

interface ChildSpec {
  /** For messages: "daemon", "resident hand". */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly log: string;
}

/** The daemon waits 10 s for running calls before it ends by itself. */
const stopGraceMs = 15_000;
const logLinesShown = 12;

/** A program that runs during the demo, with its output in a file. */
export class Child {
  readonly name: string;
  readonly log: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<string>;
  #isEnded = false;
  #isStopping = false;

  /** Resolves when the program runs. */
  static async start(spec: ChildSpec): Promise<Child> {
    const log = openSync(spec.log, "a", 0o600);
    try {
      const [file, ...args] = spec.command;
      // In its own session the terminal's Ctrl-C does not reach it; we end it in the right order.
      const started = spawn(file, args, { env: { ...spec.env }, stdio: ["ignore", log, log], detached: true });
      const child = new Child(spec, started);
      await new Promise<void>((resolve, reject) => {
        started.once("spawn", resolve);
        started.once("error", (cause) =>
          reject(
            new CommandFailure("start-failed", `Cannot start the ${spec.name}: ${file}: ${cause.message}`, { cause }),
          ),
        );
      });
      return child;
    } finally {
      closeSync(log);
    }
  }

  private constructor(spec: ChildSpec, started: ChildProcess) {
    this.name = spec.name;
    this.log = spec.log;
    this.#process = started;
    this.#ended = new Promise((resolve) => {
      started.once("exit", (code, signal) => {
        this.#isEnded = true;
        resolve(signal === null ? `status ${code ?? "unknown"}` : `signal ${signal}`);
      });
    });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Rejects with the end of the log when the program ends by itself. Never settles after `stop`. */
  async failure(): Promise<never> {
    const how = await this.#ended;
    if (this.#isStopping) return new Promise(() => undefined);
    const details = await this.lastWords();
    throw new CommandFailure(
      "child-ended",
      `The ${this.name} ended unexpectedly with ${how}${details === "" ? " and logged nothing" : ", the end of its log:"}`,
      {
        details,
        remedy: "run it again; if it ends again, report this as a bug",
      },
    );
  }

  /** Ends it: first SIGTERM, then SIGKILL. */
  async stop(clock: Clock): Promise<void> {
    if (this.#isEnded) return;
    this.#isStopping = true;
    this.#process.kill("SIGTERM");
    const cancel = clock.after(stopGraceMs, () => this.#process.kill("SIGKILL"));
    await this.#ended;
    cancel();
  }

  async lastWords(): Promise<string> {
    const text = await readFile(this.log, "utf8").catch(() => "");
    return text.trim().split("\n").slice(-logLinesShown).join("\n");
  }
}
