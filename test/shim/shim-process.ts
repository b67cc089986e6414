import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";

export const binary = join(import.meta.dir, "../../shim/target/release/levee-shim");
if (!existsSync(binary)) {
  throw new Error(`Cannot test the shim as ${binary} is absent: run "cargo build --release --offline" in shim/ first`);
}

export interface Exited {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The error a plugin prints. */
export interface CniErrorText {
  readonly cniVersion: string;
  readonly code: number;
  readonly msg: string;
  readonly details?: string;
}

/** The real binary, running. */
export class ShimProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<Exited>;

  /** `through` is a command that starts the shim, for tests about where it is started. */
  constructor(
    args: readonly string[],
    stdin: string,
    env: Readonly<Record<string, string | undefined>>,
    through: readonly string[] = [],
  ) {
    const [program = binary, ...rest] = [...through, binary, ...args];
    this.#child = spawn(program, rest, { env: { ...env }, stdio: ["pipe", "pipe", "pipe"] });
    this.#exited = this.#collect();
    // A shim that ends before it read its stdin breaks the pipe; what it answered is what counts.
    this.#child.stdin?.on("error", () => undefined);
    this.#child.stdin?.end(stdin);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get exited(): Promise<Exited> {
    return this.#exited;
  }

  /** The error on stdout, after the shim ended with 1. */
  async error(): Promise<CniErrorText> {
    const { code, stdout, stderr } = await this.exited;
    if (code !== 1)
      throw new Error(`Cannot read an error as the exit code is ${code}: stdout ${stdout} stderr ${stderr}`);
    return JSON.parse(stdout) as CniErrorText;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Closes the reading end, so that the shim cannot deliver its result. */
  closeStdout(): void {
    this.#child.stdout?.destroy();
  }

  async #collect(): Promise<Exited> {
    const text = { stdout: "", stderr: "" };
    this.#child.stdout?.on("data", (chunk: Buffer) => (text.stdout += chunk.toString("utf8")));
    this.#child.stderr?.on("data", (chunk: Buffer) => (text.stderr += chunk.toString("utf8")));
    const [code, signal] = (await once(this.#child, "close")) as [number | null, NodeJS.Signals | null];
    return { code, signal, ...text };
  }
}
