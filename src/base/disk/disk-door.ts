/**
 * The doorway to the files of the state folder and what is written beside it. The simulator puts a disk of its own
 * behind it, which tears writes, fills up and loses what was not synced.
 */
export interface Disk {
  open(path: string, flags: string | number, mode?: number): Promise<DiskFile>;
  mkdir(path: string, options: { readonly recursive: true; readonly mode: number }): Promise<string | undefined>;
  chmod(path: string, mode: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** The names in a folder. */
  readdir(path: string): Promise<string[]>;
  /** The same with the kind of each. */
  entries(path: string): Promise<readonly DiskEntry[]>;
  stat(path: string): Promise<DiskFacts>;
  lstat(path: string): Promise<DiskFacts>;
  readFile(path: string): Promise<Buffer>;
  /** Calls `onChange` whenever a name in the folder changes, and `onError` when it can no longer tell. */
  watch(folder: string, onChange: () => void, onError: (error: Error) => void): { close(): void };

  // Without a thread, where the page cache answers within microseconds.
  openSync(path: string, flags: string, mode?: number): number;
  closeSync(fd: number): void;
  fstatSync(fd: number): DiskFacts;
  fdInode(fd: number): bigint;
  fchmodSync(fd: number, mode: number): void;
  readSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): number;
  writeSync(fd: number, buffer: Uint8Array, offset: number, length: number, position: number | null): number;
  writeFileSync(fd: number, content: string | Uint8Array): void;
  mkdirSync(path: string, options: { readonly recursive: true; readonly mode: number }): unknown;
  renameSync(from: string, to: string): void;
  unlinkSync(path: string): void;
  readdirSync(path: string): string[];
  /** Undefined when there is nothing at the path. */
  lstatSync(path: string): DiskFacts | undefined;
  inodeSync(path: string): bigint | undefined;
  /** Throws when the folder cannot be written to. */
  accessSync(folder: string): void;
  freeBytesSync(folder: string): number;
}

export interface DiskFile {
  readonly fd: number;
  appendFile(content: string | Uint8Array): Promise<void>;
  read(buffer: Uint8Array, offset: number, length: number, position: number | null): Promise<{ bytesRead: number }>;
  stat(): Promise<DiskFacts>;
  chmod(mode: number): Promise<void>;
  truncate(length: number): Promise<void>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface DiskFacts {
  readonly size: number;
  readonly nlink: number;
  readonly mtimeMs: number;
  isFile(): boolean;
}

export interface DiskEntry {
  readonly name: string;
  isFile(): boolean;
}
