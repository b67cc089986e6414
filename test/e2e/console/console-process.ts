import { join } from "node:path";
import { Program } from "../program.ts";
import { until } from "../until.ts";

const program = join(import.meta.dir, "../../../dist/levee");

/** `levee console` as a person starts it. */
export class ConsoleProcess {
  readonly #program: Program;
  readonly url: string;

  private constructor(running: Program, url: string) {
    this.#program = running;
    this.url = url;
  }

  static async start(
    folder: string,
    kubeconfig: string,
    more: readonly string[] = [],
    suffix = Bun.hash(kubeconfig).toString(36),
  ): Promise<ConsoleProcess> {
    const name = `console-${suffix}`;
    const command = [program, "console", "--kubeconfig", kubeconfig, "--no-open", ...more];
    const running = new Program(folder, name, { command });
    running.start();
    const url = await until("the console prints its address", () => {
      if (!running.isRunning) throw new Error(running.logTail());
      return /The console is at (http:\S+)/u.exec(running.log)?.[1];
    });
    return new ConsoleProcess(running, url);
  }

  get log(): string {
    return this.#program.log;
  }

  get pid(): number {
    return this.#program.pid;
  }

  async stop(): Promise<void> {
    await this.#program.stop("SIGINT");
  }
}
