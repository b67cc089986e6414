import { basename, dirname } from "node:path";
import type { Seeded } from "../time/seeded.ts";
import type { SimTime } from "../time/sim-time.ts";
import { SimInode } from "./sim-inode.ts";

/** A name that was made, moved or removed, in the order in which it happened. Undefined: it is gone. */
interface NameChange {
  readonly path: string;
  readonly folder: string;
  readonly inode: SimInode | undefined;
}

/** What is wrong with the disk at present. */
export interface DiskTrouble {
  /** Bytes that still fit; undefined for as many as you like. */
  leftBytes: number | undefined;
  /** How long a sync takes, at most. */
  syncMsMax: number;
  /** A sync says that it is done, and the bytes are not on the disk. */
  isLying: boolean;
  /** The error of every sync, such as EIO. */
  syncError: string | undefined;
}

/** A healthy disk. */
const usualSyncMs = 8;

/** The files of one simulated node, with what a power cut leaves of them. Every error has a code, as from the kernel. */
export class SimFiles {
  readonly trouble: DiskTrouble = {
    leftBytes: undefined,
    syncMsMax: usualSyncMs,
    isLying: false,
    syncError: undefined,
  };
  readonly #time: SimTime;
  readonly #seeded: Seeded;
  /** The names in each folder. */
  readonly #folders = new Map<string, Set<string>>();
  readonly #watchers = new Map<string, Set<() => void>>();
  #names = new Map<string, SimInode>();
  #durableNames = new Map<string, SimInode>();
  #changes: NameChange[] = [];
  #inodes = 1n;

  constructor(time: SimTime, seeded: Seeded) {
    this.#time = time;
    this.#seeded = seeded;
  }

  find(path: string): SimInode | undefined {
    return this.#names.get(path);
  }

  /** The bytes at a path that survive a power cut at this moment; undefined when the name itself does not. */
  durableAt(path: string): Buffer | undefined {
    return this.#durableNames.get(path)?.durable;
  }

  get(path: string): SimInode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw diskError(this.#folders.has(path) ? "EISDIR" : "ENOENT", path);
    return inode;
  }

  hasFolder(path: string): boolean {
    return this.#folders.has(path);
  }

  /** Makes the folder and those above it. Returns the first one that it made. Folders are durable at once. */
  makeFolder(path: string): string | undefined {
    if (this.#names.has(path)) throw diskError("EEXIST", path);
    if (this.#folders.has(path)) return undefined;
    const above = dirname(path);
    const first = above === path ? undefined : this.makeFolder(above);
    this.#folders.set(path, new Set());
    this.#folders.get(above)?.add(basename(path));
    return first ?? path;
  }

  namesIn(folder: string): string[] {
    const names = this.#folders.get(folder);
    if (names === undefined) throw diskError("ENOENT", folder);
    return [...names].toSorted();
  }

  create(path: string): SimInode {
    const known = this.#names.get(path);
    if (known !== undefined) return known;
    if (!this.#folders.has(dirname(path))) throw diskError("ENOENT", path);
    this.#inodes += 1n;
    const inode = new SimInode(this.#inodes, this.#time.wallMs);
    this.#rename(path, inode);
    return inode;
  }

  rename(from: string, to: string): void {
    const inode = this.get(from);
    const replaced = this.#names.get(to);
    if (replaced !== undefined) this.#lose(replaced);
    this.#rename(from, undefined);
    this.#rename(to, inode);
  }

  unlink(path: string): void {
    this.#lose(this.get(path));
    this.#rename(path, undefined);
  }

  /** Writes as much as fits, and returns how much that is. Throws when nothing fits. */
  write(inode: SimInode, bytes: Uint8Array, position: number): number {
    const wanted = SimInode.blocksOf(Math.max(inode.size, position + bytes.length)) - SimInode.blocksOf(inode.size);
    const { leftBytes } = this.trouble;
    const isTooMuch = leftBytes !== undefined && wanted > leftBytes;
    const fitting = isTooMuch ? Math.max(0, SimInode.blocksOf(inode.size) + leftBytes - position) : bytes.length;
    if (isTooMuch && fitting === 0) throw diskError("ENOSPC", "write");
    const part = bytes.subarray(0, fitting);
    this.#take(SimInode.blocksOf(Math.max(inode.size, position + part.length)) - SimInode.blocksOf(inode.size));
    inode.write(part, position);
    inode.mtimeMs = this.#time.wallMs;
    return part.length;
  }

  truncate(inode: SimInode, size: number): void {
    this.#take(SimInode.blocksOf(size) - SimInode.blocksOf(inode.size));
    inode.truncate(size);
  }

  /** How long the next sync takes, and the error it ends with. */
  nextSync(): { readonly ms: number; readonly error: Error | undefined } {
    const { syncMsMax, syncError } = this.trouble;
    return {
      ms: this.#seeded.between(syncMsMax / 8, syncMsMax),
      error: syncError === undefined ? undefined : diskError(syncError, "sync"),
    };
  }

  /** Makes the names in a folder durable. */
  syncFolder(folder: string): void {
    if (this.trouble.isLying) return;
    // Nobody syncs the folders of mirrors, so their changes are many.
    const others: NameChange[] = [];
    for (const change of this.#changes)
      if (change.folder === folder) keep(this.#durableNames, change);
      else others.push(change);
    this.#changes = others;
  }

  /** The power is cut, and what was not synced is lost in part. */
  cutPower(): void {
    const kept = this.#seeded.whole(0, this.#changes.length);
    for (const change of this.#changes.slice(0, kept)) keep(this.#durableNames, change);
    this.#changes = [];
    for (const path of this.#names.keys()) this.#folders.get(dirname(path))?.delete(basename(path));
    this.#names = new Map(this.#durableNames);
    for (const path of this.#names.keys()) this.#folders.get(dirname(path))?.add(basename(path));
    this.#watchers.clear();
    for (const inode of new Set(this.#names.values())) inode.cutPower(this.#seeded);
  }

  watch(folder: string, onChange: () => void): () => void {
    if (!this.#folders.has(folder)) throw diskError("ENOENT", folder);
    const watchers = this.#watchers.get(folder) ?? new Set();
    this.#watchers.set(folder, watchers);
    watchers.add(onChange);
    return () => watchers.delete(onChange);
  }

  #rename(path: string, inode: SimInode | undefined): void {
    const folder = dirname(path);
    const change = { path, folder, inode };
    keep(this.#names, change);
    const names = this.#folders.get(folder);
    if (inode === undefined) names?.delete(basename(path));
    else names?.add(basename(path));
    this.#changes.push(change);
    for (const onChange of this.#watchers.get(folder) ?? []) onChange();
  }

  #lose(inode: SimInode): void {
    inode.links = 0;
    this.#take(-SimInode.blocksOf(inode.size));
  }

  #take(bytes: number): void {
    if (this.trouble.leftBytes !== undefined) this.trouble.leftBytes = Math.max(0, this.trouble.leftBytes - bytes);
  }
}

function keep(names: Map<string, SimInode>, { path, inode }: NameChange): void {
  if (inode === undefined) names.delete(path);
  else names.set(path, inode);
}

export function diskError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
