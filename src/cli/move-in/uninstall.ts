import { rm, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { confFileName, confWorkFolder, shimType } from "../../config/shim-conf.ts";
import { readConfFile, readConfFolder, type ConfFile } from "./conf-folder.ts";
import { CommandFailure } from "../failure.ts";
import { passthruName } from "./install-passthru.ts";
import { isShimProgram, readProgram, shimName } from "./install.ts";

interface UninstallOptions {
  readonly confDir: string;
  readonly binDir: string;
  /** Also removes the programs. */
  readonly binaries: boolean;
  /** Continues even if no conf is left, or if pods still need the programs. */
  readonly yes: boolean;
}

/** The node's state before anything is removed. */
export interface NodeState {
  /** A running daemon would write its conf again. */
  readonly isDaemonHere: boolean;
  /** Pods in the journal; undefined without a journal, which means that Levee has not run here. */
  readonly attachedPods: number | undefined;
}

export interface Uninstalled {
  /** The removed files. */
  readonly removed: readonly string[];
  /** The conf that the runtime uses from now on. */
  readonly next: ConfFile | undefined;
  /** Confs that still call the shim under another name. */
  readonly others: readonly string[];
}

/** Removes Levee from a node: first its conf, so that it gets no new pods, then its programs. */
export async function uninstall(options: UninstallOptions, node: NodeState): Promise<Uninstalled> {
  const { confDir, yes } = options;
  const files = await confFiles(confDir);
  const own = await readConfFile(confDir, confFileName);
  requireOwn(own, confDir);
  if (own === undefined && !yes) await requireTrace(options, node);
  const left = files.filter(({ fileName }) => fileName !== confFileName);
  const next = left.find((file) => "types" in file);
  if (!yes) requireSafe(options, node, { next, own });
  const removed: string[] = [];
  if (own !== undefined) {
    await unlink(join(confDir, confFileName));
    await removeWorkFolder(confDir);
    await syncFolder(confDir);
    removed.push(join(confDir, confFileName));
  }
  if (options.binaries) removed.push(...(await removePrograms(options.binDir)));
  return { removed, next, others: left.filter(callsShim).map(({ fileName }) => fileName) };
}

async function confFiles(confDir: string): Promise<readonly ConfFile[]> {
  try {
    return await readConfFolder(confDir);
  } catch (cause) {
    throw new CommandFailure(errnoOf(cause) ?? "io-failed", `Cannot look for confs in ${confDir}`, {
      remedy: "--conf-dir with the folder in which the runtime looks for confs",
      cause,
    });
  }
}

/** Another plugin's conf may have our file name; it must stay. */
function requireOwn(own: ConfFile | undefined, confDir: string): void {
  if (own === undefined || callsShim(own)) return;
  const seen = "types" in own ? `its type is ${own.types.join(", ")}` : own.problem;
  throw new CommandFailure("not-ours", `Cannot remove ${join(confDir, confFileName)}: it is not Levee's, ${seen}`, {
    remedy: "look at the file, and remove it by hand if it is not needed",
  });
}

/**
 * If Levee has run on the node but these folders hold nothing of it, they are not the runtime's folders. A second uninstall
 * passes, because the shim stays after the first. A node that never ran Levee passes too, for the way back to Multus.
 */
async function requireTrace({ confDir, binDir }: UninstallOptions, node: NodeState): Promise<void> {
  if (node.attachedPods === undefined || (await isOurs(join(binDir, shimName)))) return;
  throw new CommandFailure(
    "no-conf",
    `Cannot uninstall: there is no conf of Levee in ${confDir} and no ${shimName} in ${binDir}, but Levee has run on this node`,
    { remedy: "--conf-dir and --bin-dir with the folders of this node's runtime; --yes if they are" },
  );
}

function callsShim(file: ConfFile): boolean {
  return "types" in file && file.types.includes(shimType);
}

interface Confs {
  readonly own: ConfFile | undefined;
  readonly next: ConfFile | undefined;
}

function requireSafe(options: UninstallOptions, node: NodeState, { own, next }: Confs): void {
  if (node.isDaemonHere)
    throw new CommandFailure(
      "daemon-running",
      "Cannot uninstall: the daemon is running and would write its conf again",
      {
        remedy: "remove its DaemonSet first; --yes to continue anyway",
      },
    );
  // Without a conf of ours the node loses nothing.
  if (own !== undefined && next === undefined)
    throw new CommandFailure(
      "no-conf-left",
      `Cannot uninstall: there is no other conf in ${options.confDir}, so the node could not start pods`,
      { remedy: "install the next network first; --yes to continue anyway" },
    );
  if (options.binaries && (node.attachedPods ?? 0) > 0)
    throw new CommandFailure(
      "pods-attached",
      `Cannot remove ${shimName}: ${countPods(node.attachedPods ?? 0)} on this node would get no DEL`,
      { remedy: "drain the node first, or omit --binaries; --yes to continue anyway" },
    );
}

export function countPods(count: number): string {
  return count === 1 ? "1 attached pod" : `${count} attached pods`;
}

/** Removes the daemon's work folder for confs, if it exists and is empty. */
async function removeWorkFolder(confDir: string): Promise<void> {
  await rmdir(join(confDir, confWorkFolder)).catch(() => undefined);
}

/** Removes only our own programs. */
async function removePrograms(binDir: string): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const name of [shimName, passthruName]) {
    const file = join(binDir, name);
    if (!(await isOurs(file))) continue;
    await rm(file);
    removed.push(file);
  }
  if (removed.length > 0) await syncFolder(binDir);
  return removed;
}

async function isOurs(file: string): Promise<boolean> {
  const content = await readProgram(file);
  return content instanceof Buffer && isShimProgram(content);
}
