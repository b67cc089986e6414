import type { Dirent } from "node:fs";
import { opendir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../base/errors.ts";
import { limits } from "./limits.ts";
import type { DirectoryProblem } from "./directory-problem.ts";

/** A file that may hold objects: its name relative to the folder, and its real path. */
export interface ListedFile {
  readonly name: string;
  readonly real: string;
}

export interface Listing {
  /** By name. */
  readonly files: readonly ListedFile[];
  readonly problems: readonly DirectoryProblem[];
  /** Sub-folders that could not be read. Their files are unknown, not gone. */
  readonly unreadable: readonly string[];
}

/**
 * Finds the YAML and JSON files in a folder and one level below. `onFolder` is called before a folder is read, so that a
 * watch set there sees the changes that the reading misses. Throws when the folder itself cannot be read.
 */
export async function listFiles(folder: string, onFolder: OnFolder): Promise<Listing> {
  const root = await realpath(folder);
  const walk: Walk = { root, onFolder, files: new Map(), problems: [], unreadable: [] };
  const subFolders = await readFolder(walk, { name: "", real: root });
  if (subFolders.length > limits.subFoldersMax) {
    walk.problems.push(
      problem(
        "",
        `Cannot read all sub-folders as there may be at most ${limits.subFoldersMax}: current number is ${subFolders.length}`,
      ),
    );
  }
  for (const sub of subFolders.slice(0, limits.subFoldersMax)) await readSubFolder(walk, sub);
  const files = [...walk.files.values()].toSorted((left, right) => compareNames(left.name, right.name));
  if (files.length > limits.filesMax) {
    walk.problems.push(
      problem(
        "",
        `Cannot read all files as there may be at most ${limits.filesMax}: current number is ${files.length}, so the last by name are left out`,
      ),
    );
  }
  return { files: files.slice(0, limits.filesMax), problems: walk.problems, unreadable: walk.unreadable };
}

/** `identity` tells a folder from one that was removed and made again under the same path. */
export type OnFolder = (path: string, identity: string) => void;

/** By code unit, so that the order is the same on every machine. */
export function compareNames(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

interface Walk {
  readonly root: string;
  readonly onFolder: OnFolder;
  /** By real path. A file with two names is one file, under the first of them. */
  readonly files: Map<string, ListedFile>;
  readonly problems: DirectoryProblem[];
  readonly unreadable: string[];
}

async function readSubFolder(walk: Walk, sub: ListedFile): Promise<void> {
  try {
    await readFolder(walk, sub);
  } catch (thrown) {
    // The folder was removed since it was listed, and its files with it.
    if (errnoOf(thrown) === "ENOENT") return;
    walk.unreadable.push(sub.name);
    walk.problems.push(problem(sub.name, `Cannot read the folder: ${describe(thrown)}`));
  }
}

/** Takes the files of one folder and returns its sub-folders. */
async function readFolder(walk: Walk, folder: ListedFile): Promise<ListedFile[]> {
  const facts = await stat(folder.real, { bigint: true });
  walk.onFolder(folder.real, `${facts.dev}:${facts.ino}`);
  const subFolders: ListedFile[] = [];
  for (const entry of await readEntries(walk, folder)) {
    const name = folder.name === "" ? entry.name : `${folder.name}/${entry.name}`;
    const found = await resolveEntry(walk, entry, { name, real: join(folder.real, entry.name) });
    if (found?.isFolder === true) subFolders.push(found.file);
    else if (found !== undefined && isManifestName(entry.name)) takeFile(walk, found.file);
  }
  return subFolders;
}

async function readEntries(walk: Walk, folder: ListedFile): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  // Leaving the loop closes the handle.
  for await (const entry of await opendir(folder.real)) {
    if (entries.length >= limits.entriesMax) {
      walk.problems.push(
        problem(
          folder.name,
          `Cannot read the whole folder as it may have at most ${limits.entriesMax} entries: it has more`,
        ),
      );
      break;
    }
    // Hidden names are temporary files of editors, and the folders behind the links of a mounted ConfigMap.
    if (!entry.name.startsWith(".")) entries.push(entry);
  }
  return entries.toSorted((left, right) => compareNames(left.name, right.name));
}

interface Resolved {
  readonly file: ListedFile;
  readonly isFolder: boolean;
}

/** A file, or a folder to read; undefined for anything else. Links are followed if they stay inside the folder. */
async function resolveEntry(walk: Walk, entry: Dirent, at: ListedFile): Promise<Resolved | undefined> {
  if (!entry.isSymbolicLink())
    return entry.isFile() || entry.isDirectory() ? { file: at, isFolder: entry.isDirectory() } : undefined;
  try {
    const real = await realpath(at.real);
    if (real !== walk.root && !real.startsWith(`${walk.root}/`)) {
      walk.problems.push(
        problem(at.name, "Cannot follow the link as it must stay inside the folder: it leads out of it"),
      );
      return undefined;
    }
    const facts = await stat(real);
    return facts.isFile() || facts.isDirectory()
      ? { file: { name: at.name, real }, isFolder: facts.isDirectory() }
      : undefined;
  } catch (thrown) {
    if (isManifestName(entry.name)) walk.problems.push(problem(at.name, `Cannot follow the link: ${describe(thrown)}`));
    return undefined;
  }
}

function takeFile(walk: Walk, file: ListedFile): void {
  const other = walk.files.get(file.real);
  if (other === undefined || compareNames(file.name, other.name) < 0) walk.files.set(file.real, file);
}

function isManifestName(name: string): boolean {
  return /\.(?:yaml|yml|json)$/u.test(name);
}

function problem(file: string, reason: string): DirectoryProblem {
  return { file, line: undefined, reason };
}

function describe(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
