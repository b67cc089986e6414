import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Lab } from "./lab.ts";

export const leveeProgram = join(import.meta.dir, "../../dist/levee");

export interface Said {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the real program against a lab's daemon. */
export function levee(lab: Lab, ...args: readonly string[]): Promise<Said> {
  return run(leveeProgram, [...args, ...foldersOf(lab)]);
}

export function foldersOf(lab: Lab): readonly string[] {
  return ["--socket-dir", lab.socketDir, "--state-dir", lab.stateDir];
}

export function run(program: string, args: readonly string[], input?: Readonly<Input>): Promise<Said> {
  const child = spawn(program, args, { env: { PATH: process.env["PATH"] ?? "", TERM: "xterm" } });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    input?.onOutput(out, (keys) => child.stdin.write(keys));
  });
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.on("error", () => undefined);
  if (input === undefined) child.stdin.end();
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, out, err }));
  });
}

export interface Input {
  /** Called with all output so far; may type. */
  onOutput(out: string, type: (keys: string) => void): void;
}
