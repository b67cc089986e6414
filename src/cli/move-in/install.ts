import { createHash } from "node:crypto";
import { lstat, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { runTool } from "../context.ts";
import { CommandFailure, toFailure } from "../failure.ts";
import { oneLine } from "../../base/plain-text.ts";
import { isSuccess } from "../run-program.ts";
import type { Shell } from "../shell.ts";

export const shimName = "levee-shim";

/** Only the help text of our shim contains this, so it identifies the shim under any name. */
const shimMark = "levee-shim: the hands of Levee";
/** Forty times the size of a shim; a larger file is not a shim. */
const programBytesMax = 64 * 1024 * 1024;
/** A killed init container may leave its temporary file; after this time no process writes to it. */
const leftoverMs = 600_000;
const leftoverPattern = /^\.levee-install-[0-9a-f]+(?:\.tmp)?$/u;

interface InstallOptions {
  readonly source: string;
  readonly dest: string;
}

export interface InstalledShim {
  readonly file: string;
  readonly isNew: boolean;
  readonly bytes: number;
  readonly sha256: string;
  /** The copy's version; undefined if this container cannot execute files there. */
  readonly software: string | undefined;
}

export type InstallShell = Pick<Shell, "clock" | "env">;

/**
 * Installs the shim in a node's plugin folder. A runtime may start it at any moment, and the old one may be running, so the
 * new one is written beside it, tried out, and renamed.
 */
export async function installShim(
  shell: InstallShell,
  options: InstallOptions,
): Promise<{ readonly shim: InstalledShim; readonly content: Uint8Array }> {
  const { dest } = options;
  const file = join(dest, shimName);
  try {
    const content = await readSource(options.source);
    await requireFolder(dest);
    await removeLeftovers(shell, dest);
    const facts = { file, bytes: content.length, sha256: sha256Of(content) };
    const isThere = await isInstalled(file, content);
    const software = isThere ? await tryOut(shell, file) : await putProgram(shell, { file, dest, content });
    return { shim: { ...facts, isNew: !isThere, software }, content };
  } catch (thrown) {
    throw installFailure(thrown, dest);
  }
}

export function isShimProgram(content: Buffer): boolean {
  return content.includes(shimMark);
}

/** A temporary name in the folder. If this install is killed, the next one removes the file. */
export function temporaryName(shell: Pick<Shell, "clock">, dest: string): string {
  return join(dest, `.levee-install-${Buffer.from(shell.clock.randomBytes(8)).toString("hex")}`);
}

/** The program's content; undefined if there is none, "other" if it is not a file or too large to be ours. */
export async function readProgram(file: string): Promise<Buffer | "other" | undefined> {
  try {
    return await readRegularFile(file, { bytesMax: programBytesMax, followLinks: true });
  } catch (thrown) {
    if (thrown instanceof LeveeError) return "other";
    // A dangling link takes the name, too.
    if (errnoOf(thrown) === "ENOENT") return (await exists(file)) ? "other" : undefined;
    throw thrown;
  }
}

export function installFailure(thrown: unknown, dest: string): CommandFailure {
  const errno = errnoOf(thrown);
  const reason = errno === undefined ? undefined : reasons[errno];
  if (reason === undefined) return toFailure(thrown);
  return new CommandFailure(errno ?? "io-failed", `Cannot install ${shimName} in ${dest}: ${reason[0]}`, {
    remedy: reason[1],
    cause: thrown,
  });
}

const reasons: Readonly<Record<string, readonly [string, string]>> = {
  ENOENT: ["there is no such folder", "mount the host's plugin folder there, or --dest with an existing folder"],
  ENOTDIR: ["it is not a folder", "--dest with the folder in which the runtime looks for plugins"],
  EISDIR: ["a folder already has that name", "remove that folder, then repeat the command"],
  EROFS: ["it is read-only", "mount it writable, or set another plugin folder in the runtime and here"],
  EACCES: ["it is not writable", "run the command as root"],
  EPERM: ["it is not writable", "run the command as root; look for an immutable file there (lsattr)"],
  ENOSPC: ["the disk is full", "free space on the node's disk, then repeat the command"],
  EDQUOT: ["the quota is used up", "free space on the node's disk, then repeat the command"],
};

async function readSource(source: string): Promise<Buffer> {
  const content = await readRegularFile(source, { bytesMax: programBytesMax, followLinks: true }).catch(
    (thrown: unknown) => {
      const why = errnoOf(thrown) === "ENOENT" ? "there is no such file" : toFailure(thrown).message;
      throw new CommandFailure("source-unusable", `Cannot read the shim to install, ${source}: ${why}`, {
        remedy: "--source FILE with the levee-shim that came with this program",
        cause: thrown,
      });
    },
  );
  if (isShimProgram(content)) return content;
  throw new CommandFailure("source-unusable", `Cannot install ${source}: it is not ${shimName}`, {
    remedy: "--source FILE with the levee-shim that came with this program",
  });
}

async function requireFolder(dest: string): Promise<void> {
  if ((await stat(dest)).isDirectory()) return;
  throw Object.assign(new Error(dest), { code: "ENOTDIR" });
}

async function removeLeftovers({ clock }: InstallShell, dest: string): Promise<void> {
  for (const name of (await readdir(dest)).filter((each) => leftoverPattern.test(each))) {
    const facts = await lstat(join(dest, name)).catch(() => undefined);
    if (facts !== undefined && clock.wallMs() - facts.mtimeMs > leftoverMs) await rm(join(dest, name), { force: true });
  }
}

/** The same bytes, and executable for all, which a copy by hand may lack. */
async function isInstalled(file: string, content: Buffer): Promise<boolean> {
  const there = await readProgram(file);
  if (!(there instanceof Buffer) || !there.equals(content)) return false;
  return ((await stat(file)).mode & 0o755) === 0o755;
}

interface Put {
  readonly file: string;
  readonly dest: string;
  readonly content: Buffer;
}

async function putProgram(shell: InstallShell, { file, dest, content }: Put): Promise<string | undefined> {
  const fresh = temporaryName(shell, dest);
  try {
    await writeFileAtomically(fresh, content, { mode: 0o755, exactMode: true, sync: true });
    await requireSame(fresh, content);
    const software = await tryOut(shell, fresh);
    await rename(fresh, file);
    await syncFolder(dest);
    return software;
  } finally {
    await rm(fresh, { force: true });
  }
}

async function requireSame(file: string, content: Buffer): Promise<void> {
  const copy = await readFile(file);
  if (copy.length === content.length && sha256Of(copy) === sha256Of(content)) return;
  throw new CommandFailure(
    "copy-damaged",
    `Cannot install ${shimName}: ${content.length} bytes were written, but the copy has ${copy.length} bytes and another checksum`,
    { remedy: "look for errors of the node's disk (dmesg)" },
  );
}

/** Undefined if files here cannot be executed, as on a noexec volume; the host may still execute them. */
async function tryOut(shell: InstallShell, file: string): Promise<string | undefined> {
  const end = await runTool(shell, file, ["--version"]);
  if (end.startError === "EACCES" || end.startError === "EPERM") return undefined;
  const software = oneLine(end.stdout.split("\n")[0] ?? "");
  if (isSuccess(end) && software.startsWith(`${shimName} `)) return software;
  const how = end.startError ?? end.signal ?? end.stopped ?? `exit code ${end.exitCode ?? "unknown"}`;
  throw new CommandFailure("shim-broken", `Cannot install ${shimName}: it does not run on this machine (${how})`, {
    remedy: "use the image built for this machine's architecture",
    details: end.stderr,
  });
}

async function exists(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined)) !== undefined;
}

function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
