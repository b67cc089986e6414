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
  /** Removes programs too. */
  readonly binaries: boolean;
  /** Even if no conf would be left, or pods still need what is removed. */
  readonly yes: boolean;
}

/** What is known of the node before anything is removed. */
export interface NodeState {
  /** A daemon that runs puts its conf back. */
  readonly isDaemonHere: boolean;
  /** Pods with networks in the journal; undefined when there is no journal to read: Levee has not run here. */
  readonly attachedPods: number | undefined;
}

export interface Uninstalled {
  /** Files that were removed. */
  readonly removed: readonly string[];
  /** The conf that the runtime uses from now on. */
  readonly next: ConfFile | undefined;
  /** Confs that still call the shim under another name. */
  readonly others: readonly string[];
}

/** Takes Levee out of a node's way: first its conf, so that no new pod comes to it, then what nobody calls any more. */
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

/** Somebody may have put a conf of another plugin under our name; it is not ours to remove. */
function requireOwn(own: ConfFile | undefined, confDir: string): void {
  if (own === undefined || callsShim(own)) return;
  const seen = "types" in own ? `its type is ${own.types.join(", ")}` : own.problem;
  throw new CommandFailure("not-ours", `Cannot remove ${join(confDir, confFileName)}: it is not Levee's, ${seen}`, {
    remedy: "look at the file, and remove it by hand if it is not needed",
  });
}

/**
 * A node that Levee has served and folders that hold nothing of it: these are not the runtime's. The shim stays after a
 * first uninstall, so a second one passes; so does a node that never ran Levee, for the init container of Multus' way back.
 */
async function requireTrace({ confDir, binDir }: UninstallOptions, node: NodeState): Promise<void> {
  if (node.attachedPods === undefined || (await isOurs(join(binDir, shimName)))) return;
  throw new CommandFailure(
    "no-conf",
    `Cannot uninstall: there is no conf of Levee in ${confDir} and no ${shimName} in ${binDir}, though Levee has run on this node`,
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
        remedy: "remove its DaemonSet first; --yes to go on all the same",
      },
    );
  // Where there is nothing to remove, the node loses nothing.
  if (own !== undefined && next === undefined)
    throw new CommandFailure(
      "no-conf-left",
      `Cannot uninstall: no other conf in ${options.confDir}, so the node could start no pods`,
      { remedy: "install the next network first; --yes to go on all the same" },
    );
  if (options.binaries && (node.attachedPods ?? 0) > 0)
    throw new CommandFailure(
      "pods-attached",
      `Cannot remove ${shimName}: ${countPods(node.attachedPods ?? 0)} on this node would be left without their DEL`,
      { remedy: "drain the node first, or leave out --binaries; --yes to go on all the same" },
    );
}

export function countPods(count: number): string {
  return count === 1 ? "1 attached pod" : `${count} attached pods`;
}

/** Where confs were on their way; gone already, or not empty because somebody keeps something there. */
async function removeWorkFolder(confDir: string): Promise<void> {
  await rmdir(join(confDir, confWorkFolder)).catch(() => undefined);
}

/** Only programs of ours, whatever they are called. */
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
