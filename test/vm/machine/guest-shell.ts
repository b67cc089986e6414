import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { guestAddress, sshPort } from "./addresses.ts";

/** One command in the guest; a hung machine must not hold a test for ever. */
const commandMs = 300_000;

export interface GuestOutcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A shell in the guest over SSH. All commands share one connection, because an emulated handshake takes seconds. */
export class GuestShell {
  readonly #options: readonly string[];
  readonly #control: string;

  constructor(key: string, folder: string) {
    this.#control = join(folder, "ssh");
    this.#options = [
      ...["-i", key, "-p", String(sshPort), "-o", `ControlPath=${this.#control}`],
      ...["-o", "ControlMaster=auto", "-o", "ControlPersist=yes", "-o", "BatchMode=yes"],
      ...["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"],
      ...["-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=6"],
    ];
  }

  /** The output of a shell command; the error of a failure has its stderr. */
  async run(command: string, timeoutMs = commandMs): Promise<string> {
    const { status, stdout, stderr } = await this.try(command, timeoutMs);
    if (status !== 0)
      throw new Error(
        `In the guest ${guestAddress}: ${brief(command)} failed with ${status ?? "a signal"}: ${stderr.trim() || stdout.trim()}`,
      );
    return stdout;
  }

  /** The same, for a command that may fail. */
  try(command: string, timeoutMs = commandMs): Promise<GuestOutcome> {
    return outcomeOf([...this.#options, "root@127.0.0.1", command], timeoutMs);
  }

  /** After the guest went down: a connection from before would only wait. */
  async forget(): Promise<void> {
    await outcomeOf([...this.#options, "-O", "exit", "root@127.0.0.1"], 10_000);
    rmSync(this.#control, { force: true });
  }
}

function outcomeOf(args: readonly string[], timeoutMs: number): Promise<GuestOutcome> {
  const child = spawn("ssh", args, { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => {
    const patience = setTimeout(() => {
      stderr += `no end after ${timeoutMs} ms`;
      child.kill("SIGKILL");
    }, timeoutMs);
    const end = (status: number | null): void => {
      clearTimeout(patience);
      resolve({ status, stdout, stderr });
    };
    child.on("error", (error) => {
      stderr += error.message;
      end(null);
    });
    child.on("close", (status) => end(status));
  });
}

function brief(command: string): string {
  return command.length <= 120 ? command : `${command.slice(0, 120)}…`;
}
