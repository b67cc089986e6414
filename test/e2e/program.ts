import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Hopeless, until } from "./until.ts";

export interface ProgramOptions {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** cgroups of any hierarchies to start in; made before. */
  readonly cgroups?: readonly string[];
}

/** A long-running program of the cluster: started, stopped, killed and started again, all output in one log file. */
export class Program {
  readonly name: string;
  readonly logFile: string;
  readonly #options: ProgramOptions;
  #child: ChildProcess | undefined;

  constructor(logFolder: string, name: string, options: ProgramOptions) {
    mkdirSync(logFolder, { recursive: true });
    this.name = name;
    this.logFile = join(logFolder, `${name}.log`);
    this.#options = options;
  }

  start(): void {
    if (this.isRunning) throw new Error(`${this.name} is running already`);
    const log = openSync(this.logFile, "a");
    const { command, env } = this.#options;
    const [program = "", ...args] = [...this.#enterCgroups(), ...command];
    const child = spawn(program, args, {
      env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "/", ...env },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    child.on("error", (error) => writeFileSync(this.logFile, `cannot be started: ${error.message}\n`, { flag: "a" }));
    this.#child = child;
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error(`${this.name} is not running`);
    return pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
    child.kill(signal);
    // A program that does not end on SIGTERM is killed. The tests check an orderly stop where they expect one.
    const patience = setTimeout(() => child.kill("SIGKILL"), 30_000);
    await ended;
    clearTimeout(patience);
  }

  async restart(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.stop(signal);
    this.start();
  }

  /** Waits until the program does what it is for; fails at once when it has ended. */
  async untilUp(what: string, look: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
    await until(
      `${this.name} ${what}`,
      async () => {
        if (!this.isRunning) throw new Hopeless(`${this.name} has ended:\n${this.logTail()}`);
        return (await look()) || undefined;
      },
      { timeoutMs },
    );
  }

  get log(): string {
    try {
      return readFileSync(this.logFile, "utf8");
    } catch {
      return "";
    }
  }

  logTail(lines = 25): string {
    return this.log.trimEnd().split("\n").slice(-lines).join("\n");
  }

  /** A shell puts itself into the cgroups and becomes the program: no moment of it runs outside. */
  #enterCgroups(): readonly string[] {
    const cgroups = this.#options.cgroups ?? [];
    const enter = cgroups.map((cgroup) => `echo $$ > ${cgroup}/cgroup.procs && `).join("");
    return cgroups.length === 0 ? [] : ["/bin/sh", "-c", `${enter}exec "$@"`, "sh"];
  }
}
