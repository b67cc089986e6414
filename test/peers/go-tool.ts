import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Where the installer of Go puts it; not everybody has that in PATH. */
const usualPlace = "/usr/local/go/bin/go";

export interface GoRun {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface GoOutcome {
  readonly isDone: boolean;
  readonly stdout: string;
  /** The end of Go's output, for people. */
  readonly complaint: string;
}

/** The `go` of this machine, or undefined. */
export function findGo(): string | undefined {
  if (spawnSync("go", ["version"]).status === 0) return "go";
  return existsSync(usualPlace) ? usualPlace : undefined;
}

export function runGo(go: string, args: readonly string[], run: GoRun = {}): Promise<GoOutcome> {
  const child = spawn(go, args, {
    cwd: run.cwd,
    // The build goes on when checksums of some staging modules are not in the public database.
    // A workspace of theirs has folders that a module archive lacks.
    env: { ...process.env, GOFLAGS: "-mod=mod -buildvcs=false", GOWORK: "off", GONOSUMDB: "k8s.io/*", ...run.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ isDone: false, stdout, complaint: error.message }));
    child.on("close", (code) => resolve({ isDone: code === 0, stdout, complaint: lastLines(stderr) }));
  });
}

/** The folder with the source of a module, fetched when it is not there; undefined when it cannot be had. */
export async function moduleSource(go: string, module: string, version: string): Promise<string | undefined> {
  const { isDone, stdout } = await runGo(go, ["mod", "download", "-json", `${module}@${version}`]);
  return isDone ? (JSON.parse(stdout) as { Dir?: string }).Dir : undefined;
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-3).join("\n");
}
