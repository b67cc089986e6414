import { dirname, join } from "node:path";
import type { Disk, DiskEntry, DiskFacts, DiskFile } from "../../base/disk/disk-door.ts";
import type { SimProcess } from "../time/sim-process.ts";
import { diskError, type SimFiles } from "./sim-files.ts";
import type { SimInode } from "./sim-inode.ts";

/** The files of one node and the daemon that uses them now. */
export interface DiskUser {
  readonly files: SimFiles;
  readonly process: SimProcess;
}

/** One operation that asks the disk takes at most this long, apart from a sync. */
const askMsMax = 0.4;

interface OpenFile extends DiskUser {
  readonly path: string;
  /** Undefined for an open folder. */
  readonly inode: SimInode | undefined;
  readonly isAppending: boolean;
  position: number;
}

/** The disk of every simulated node. The first name in a path is the node's. */
export class SimDisk implements Disk {
  readonly #userOf: (node: string) => DiskUser | undefined;
  readonly #open = new Map<number, OpenFile>();
  #fds = 2;

  constructor(userOf: (node: string) => DiskUser | undefined) {
    this.#userOf = userOf;
  }

  open(path: string, flags: string | number): Promise<DiskFile> {
    return this.#ask(path, () => this.#file(this.openSync(path, typeof flags === "number" ? "r" : flags)));
  }

  mkdir(path: string): Promise<string | undefined> {
    return this.#ask(path, ({ files }) => files.makeFolder(path));
  }

  chmod(path: string): Promise<void> {
    return this.#ask(path, () => undefined);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#ask(from, () => this.renameSync(from, to));
  }

  unlink(path: string): Promise<void> {
    return this.#ask(path, () => this.unlinkSync(path));
  }

  readdir(path: string): Promise<string[]> {
    return this.#ask(path, () => this.readdirSync(path));
  }

  entries(path: string): Promise<readonly DiskEntry[]> {
    return this.#ask(path, ({ files }) =>
      files.namesIn(path).map((name) => ({ name, isFile: () => files.find(join(path, name)) !== undefined })),
    );
  }

  stat(path: string): Promise<DiskFacts> {
    return this.#ask(path, ({ files }) => factsOf(files.hasFolder(path) ? undefined : files.get(path)));
  }

  lstat(path: string): Promise<DiskFacts> {
    return this.stat(path);
  }

  readFile(path: string): Promise<Buffer> {
    return this.#ask(path, ({ files }) => Buffer.from(files.get(path).content));
  }

  watch(folder: string, onChange: () => void): { close(): void } {
    const { files, process } = this.#user(folder);
    const close = files.watch(folder, () => process.soon(askMsMax, onChange));
    return { close };
  }

  openSync(path: string, flags: string): number {
    const user = this.#user(path);
    const { files } = user;
    const isFolder = files.hasFolder(path);
    const mayCreate = flags.startsWith("w") || flags.startsWith("a");
    const inode = isFolder ? undefined : mayCreate ? files.create(path) : files.get(path);
    if (inode !== undefined && flags.startsWith("w")) files.truncate(inode, 0);
    this.#fds += 1;
    this.#open.set(this.#fds, { ...user, path, inode, isAppending: flags.startsWith("a"), position: 0 });
    return this.#fds;
  }

  closeSync(fd: number): void {
    this.#open.delete(fd);
  }

  fstatSync(fd: number): DiskFacts {
    return factsOf(this.#of(fd).inode);
  }

  fdInode(fd: number): bigint {
    return this.#of(fd).inode?.number ?? 0n;
  }

  fchmodSync(): void {
    // Modes protect from other users, and a simulated node has none.
  }

  readSync(fd: number, buffer: Uint8Array, ...[offset, length, position]: [number, number, number]): number {
    return inodeOf(this.#of(fd)).read(buffer.subarray(offset, offset + length), position);
  }

  writeSync(fd: number, buffer: Uint8Array, ...[offset, length, position]: [number, number, number | null]): number {
    const file = this.#of(fd);
    const inode = inodeOf(file);
    const at = file.isAppending ? inode.size : (position ?? file.position);
    const count = file.files.write(inode, buffer.subarray(offset, offset + length), at);
    file.position = at + count;
    return count;
  }

  writeFileSync(fd: number, content: string | Uint8Array): void {
    const bytes = Buffer.from(content);
    for (let done = 0; done < bytes.length;) done += this.writeSync(fd, bytes, done, bytes.length - done, null);
  }

  mkdirSync(path: string): unknown {
    return this.#user(path).files.makeFolder(path);
  }

  renameSync(from: string, to: string): void {
    this.#user(from).files.rename(from, to);
  }

  unlinkSync(path: string): void {
    this.#user(path).files.unlink(path);
  }

  readdirSync(path: string): string[] {
    return this.#user(path).files.namesIn(path);
  }

  lstatSync(path: string): DiskFacts | undefined {
    const { files } = this.#user(path);
    const inode = files.find(path);
    return inode === undefined && !files.hasFolder(path) ? undefined : factsOf(inode);
  }

  inodeSync(path: string): bigint | undefined {
    return this.#user(path).files.find(path)?.number;
  }

  accessSync(folder: string): void {
    if (!this.#user(folder).files.hasFolder(folder)) throw diskError("ENOENT", folder);
  }

  freeBytesSync(folder: string): number {
    return this.#user(folder).files.trouble.leftBytes ?? Number.MAX_SAFE_INTEGER;
  }

  #file(fd: number): DiskFile {
    const file = this.#of(fd);
    const ask = <T>(work: () => T): Promise<T> => this.#ask(file.path, work);
    const sync = (): Promise<void> => this.#sync(file);
    return {
      fd,
      appendFile: (content) => ask(() => this.writeFileSync(fd, content)),
      read: (buffer, offset, length, position) =>
        ask(() => {
          const bytesRead = this.readSync(fd, buffer, offset, length, position ?? file.position);
          if (position === null) file.position += bytesRead;
          return { bytesRead };
        }),
      stat: () => ask(() => this.fstatSync(fd)),
      chmod: () => ask(() => undefined),
      truncate: (length) => ask(() => file.files.truncate(inodeOf(file), length)),
      datasync: sync,
      sync,
      close: () => ask(() => this.closeSync(fd)),
    };
  }

  /** The bytes are durable at the end of the sync, not at its beginning. */
  #sync({ files, process, inode, path }: OpenFile): Promise<void> {
    const { ms, error } = files.nextSync();
    const endSync = files.trouble.isLying ? undefined : inode?.beginSync();
    return new Promise((resolve, reject) => {
      process.soon(ms, () => {
        endSync?.(error === undefined);
        if (error !== undefined) {
          reject(error);
          return;
        }
        if (inode === undefined) files.syncFolder(path);
        resolve();
      });
    });
  }

  /** A process that is killed meanwhile never hears the answer. */
  async #ask<T>(path: string, work: (user: DiskUser) => T): Promise<T> {
    const user = this.#userOf(nodeOf(path));
    if (user?.process.isAlive !== true) return new Promise(() => undefined);
    const { process } = user;
    await new Promise<void>((resolve) => {
      process.soon(process.random() * askMsMax, resolve);
    });
    return work(user);
  }

  #user(path: string): DiskUser {
    const user = this.#userOf(nodeOf(path));
    if (user?.process.isAlive !== true) throw diskError("EIO", `${path} is used by a process that was killed`);
    return user;
  }

  #of(fd: number): OpenFile {
    const file = this.#open.get(fd);
    if (file?.process.isAlive !== true) throw diskError("EBADF", `descriptor ${fd}`);
    return file;
  }
}

function nodeOf(path: string): string {
  const end = path.indexOf("/", 1);
  return path.slice(1, end < 0 ? undefined : end);
}

function inodeOf({ inode, path }: OpenFile): SimInode {
  if (inode === undefined) throw diskError("EISDIR", dirname(path));
  return inode;
}

/** Undefined for a folder. */
function factsOf(inode: SimInode | undefined): DiskFacts {
  const isFile = (): boolean => inode !== undefined;
  return { size: inode?.size ?? 0, nlink: inode?.links ?? 1, mtimeMs: inode?.mtimeMs ?? 0, isFile };
}
