import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closure } from "../../scripts/debian/bump-pins.ts";
import { PrivateApt } from "../../scripts/debian/private-apt.ts";
import { peerFolder, type Peer } from "./peer.ts";

export interface DebianPrograms {
  /** Names the folder in the cache. */
  readonly name: string;
  readonly packages: readonly string[];
  /** Packages that they need and that are left out: the machine has them, or only an installation needs them. */
  readonly without: readonly string[];
  /** A file that is there once all is unpacked. */
  readonly proof: string;
}

/** In every Debian, or for the scripts of an installation. */
const always = ["libc6", "libgcc-s1", "gcc-12-base", "debconf", "dpkg", "perl", "python3"];

/**
 * Programs of Debian with their libraries, unpacked and not installed: the machine stays as it is, and no service starts
 * with it. The folder is their root.
 */
export function debianPrograms({ name, packages, without, proof }: DebianPrograms): Peer {
  const folder = join(peerFolder(name, "debian"), "root");
  if (existsSync(join(folder, proof))) return { folder };
  process.stdout.write(`Unpacking ${name} of Debian (once)…\n`);
  const work = mkdtempSync(join(tmpdir(), `levee-${name}-`));
  try {
    fetchInto(work, packages, [...always, ...without]);
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    for (const file of readdirSync(work)) unpack(join(work, file), fresh);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
    return existsSync(join(folder, proof)) ? { folder } : { missing: `${name} of Debian has no ${proof}` };
  } catch (thrown) {
    return { missing: `${name} could not be had from Debian: ${(thrown as Error).message}` };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** For `LD_LIBRARY_PATH` of a program below the root. */
export function librariesIn(root: string): string {
  return ["usr/lib", "lib"]
    .flatMap((folder) => ["x86_64-linux-gnu", "aarch64-linux-gnu"].map((machine) => join(root, folder, machine)))
    .join(":");
}

function fetchInto(folder: string, wanted: readonly string[], without: readonly string[]): void {
  const apt = new PrivateApt(process.arch === "arm64" ? "arm64" : "amd64");
  apt.update();
  const packages = closure({ wanted, withNeeds: true, without }, (names) => apt.offers(names));
  const problem = apt.download(folder, packages);
  if (problem !== undefined) throw new Error(problem);
}

function unpack(file: string, root: string): void {
  const { status, stderr } = spawnSync("dpkg-deb", ["-x", file, root], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file}: ${stderr.trim()}`);
}
