import { spawnSync } from "node:child_process";
import { readTar, type Entries } from "./tar.ts";

/** A package is at most this large once it is unpacked; LLVM's library is 120 MB. */
const unpackedBytesMax = 1024 * 1024 * 1024;

/** What is in a .deb: its files, and its description with the MD5 sums of the files. */
export interface DebianPackage {
  readonly files: Entries;
  /** The text of `control`. */
  readonly control: string;
  /** The text of `md5sums`; empty when the package has none. */
  readonly md5sums: string;
}

/** Opens a .deb without unpacking it to disk, so owners and modes need no rights. Its scripts do not run. */
export function openDebianPackage(file: string): DebianPackage {
  const about = readTar(dpkgDeb("--ctrl-tarfile", file));
  const text = (name: string): string => Buffer.from(about.get(name)?.content ?? []).toString("utf8");
  return { files: readTar(dpkgDeb("--fsys-tarfile", file)), control: text("control"), md5sums: text("md5sums") };
}

function dpkgDeb(what: string, file: string): Buffer {
  const { status, stdout, stderr, error } = spawnSync("dpkg-deb", [what, file], { maxBuffer: unpackedBytesMax });
  if (error !== undefined) throw new Error(`Cannot start dpkg-deb: ${error.message}; on Debian it is in dpkg`);
  if (status !== 0) throw new Error(`Cannot open the package ${file}: ${stderr.toString("utf8").trim()}`);
  return stdout;
}
