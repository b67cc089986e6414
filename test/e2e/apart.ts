import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
/** The folder of a run begins with it. */
export const folderPrefix = "levee-e2e-";
/** A shell that waits for the program it is given, and so for every orphan below it. */
const reaper = ["/bin/sh", "-c", '"$@"; exit $?', "sh"];
/** If this process is killed, everything that it started is killed too. */
const dieWithUs = ["--pdeathsig", "KILL"];
/** No cgroup is left once its processes are; the kernel needs a moment for it. */
const cgroupPatienceMs = 5_000;

/** A folder for everything a cluster writes, marked as ours. Its cgroups get its name. */
export function makeFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, folderPrefix));
  writeFileSync(join(folder, "owner"), String(process.pid));
  return folder;
}

/**
 * Runs a program in mount, network, process and host name namespaces of its own. The first process there is a shell
 * that reaps orphans; with it everything started below it dies. Its exit code.
 */
export async function runApart(command: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const [program, ...args] = apartCommand(command);
  const child = spawn(program, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  const [status] = (await once(child, "exit")) as [number | null]; // As the documentation of "exit" has it.
  return status ?? 1;
}

/** The command line for it. A network namespace that is there already is entered by its file. */
export function apartCommand(command: readonly string[], networkFile?: string): readonly [string, ...string[]] {
  const enter = networkFile === undefined ? [] : ["nsenter", `--net=${networkFile}`];
  const namespaces = [
    "--mount",
    ...(networkFile === undefined ? ["--net"] : []),
    "--pid",
    "--ipc",
    "--uts",
    "--fork",
    "--kill-child",
    "--mount-proc",
    "--propagation=private",
  ];
  return ["setpriv", ...dieWithUs, ...enter, "unshare", ...namespaces, ...reaper, ...command];
}

/** Removes what an interrupted run left behind. */
export function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(folderPrefix))) {
    const folder = join(tmpdir(), name);
    const owner = existsSync(join(folder, "owner")) ? readFileSync(join(folder, "owner"), "utf8") : "";
    if (!existsSync(`/proc/${owner}/cmdline`) || owner === "") removeFolder(folder);
  }
}

/** With the cgroups that are named after it. */
export function removeFolder(folder: string): void {
  const name = folder.slice(folder.lastIndexOf("/") + 1);
  for (const hierarchy of existsSync("/sys/fs/cgroup") ? readdirSync("/sys/fs/cgroup") : [])
    removeCgroup(join("/sys/fs/cgroup", hierarchy, name));
  rmSync(folder, { recursive: true, force: true });
}

function removeCgroup(path: string): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeCgroup(join(path, entry.name));
  const endsMs = performance.now() + cgroupPatienceMs;
  for (;;) {
    try {
      rmdirSync(path);
      return;
    } catch (thrown) {
      if (performance.now() > endsMs) {
        process.stderr.write(`The cgroup ${path} could not be removed: ${String(thrown)}\n`);
        return;
      }
      Bun.sleepSync(50);
    }
  }
}
