import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  readdirSync,
  renameSync,
  statSync,
  statfsSync,
  unlinkSync,
  watch,
  writeFileSync,
  writeSync,
} from "node:fs";
import { chmod, lstat, mkdir, open, readFile, readdir, rename, stat, unlink } from "node:fs/promises";
import type { Disk } from "./disk-door.ts";

/** The files of the machine. */
export const nodeDisk: Disk = {
  open: (path, flags, mode) => open(path, flags, mode),
  mkdir: (path, options) => mkdir(path, options),
  chmod: (path, mode) => chmod(path, mode),
  rename: (from, to) => rename(from, to),
  unlink: (path) => unlink(path),
  readdir: (path) => readdir(path),
  entries: (path) => readdir(path, { withFileTypes: true }),
  stat: (path) => stat(path),
  lstat: (path) => lstat(path),
  readFile: (path) => readFile(path),
  watch: (folder, onChange, onError) => watch(folder, onChange).on("error", onError),
  openSync: (path, flags, mode) => openSync(path, flags, mode),
  closeSync: (fd) => closeSync(fd),
  fstatSync: (fd) => fstatSync(fd),
  fdInode: (fd) => fstatSync(fd, { bigint: true }).ino,
  fchmodSync: (fd, mode) => fchmodSync(fd, mode),
  readSync: (fd, buffer, ...place) => readSync(fd, buffer, ...place),
  writeSync: (fd, buffer, ...place) => writeSync(fd, buffer, ...place),
  writeFileSync: (fd, content) => writeFileSync(fd, content),
  mkdirSync: (path, options) => mkdirSync(path, options),
  renameSync: (from, to) => renameSync(from, to),
  unlinkSync: (path) => unlinkSync(path),
  readdirSync: (path) => readdirSync(path),
  lstatSync: (path) => lstatSync(path, { throwIfNoEntry: false }),
  inodeSync: (path) => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino,
  accessSync: (folder) => accessSync(folder, constants.W_OK),
  freeBytesSync: (folder) => {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  },
};
