import * as direct from "node:fs";
import * as later from "node:fs/promises";
import type { Disk } from "./disk-door.ts";

/** The files of the machine. */
export const nodeDisk: Disk = {
  open: (path, flags, mode) => later.open(path, flags, mode),
  mkdir: (path, options) => later.mkdir(path, options),
  chmod: (path, mode) => later.chmod(path, mode),
  rename: (from, to) => later.rename(from, to),
  unlink: (path) => later.unlink(path),
  readdir: (path) => later.readdir(path),
  entries: (path) => later.readdir(path, { withFileTypes: true }),
  stat: (path) => later.stat(path),
  lstat: (path) => later.lstat(path),
  readFile: (path) => later.readFile(path),
  watch: (folder, onChange, onError) => direct.watch(folder, onChange).on("error", onError),
  openSync: (path, flags, mode) => direct.openSync(path, flags, mode),
  closeSync: (fd) => direct.closeSync(fd),
  fstatSync: (fd) => direct.fstatSync(fd),
  fdInode: (fd) => direct.fstatSync(fd, { bigint: true }).ino,
  fchmodSync: (fd, mode) => direct.fchmodSync(fd, mode),
  readSync: (fd, buffer, ...place) => direct.readSync(fd, buffer, ...place),
  writeSync: (fd, buffer, ...place) => direct.writeSync(fd, buffer, ...place),
  writeFileSync: (fd, content) => direct.writeFileSync(fd, content),
  mkdirSync: (path, options) => direct.mkdirSync(path, options),
  renameSync: (from, to) => direct.renameSync(from, to),
  unlinkSync: (path) => direct.unlinkSync(path),
  readdirSync: (path) => direct.readdirSync(path),
  lstatSync: (path) => direct.lstatSync(path, { throwIfNoEntry: false }),
  inodeSync: (path) => direct.statSync(path, { bigint: true, throwIfNoEntry: false })?.ino,
  accessSync: (folder) => direct.accessSync(folder, direct.constants.W_OK),
  freeBytesSync: (folder) => {
    const { bavail, bsize } = direct.statfsSync(folder);
    return bavail * bsize;
  },
};
