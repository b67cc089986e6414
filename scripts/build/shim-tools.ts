import { createHash } from "node:crypto";
import { existsSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDebianPackage } from "../debian/debian-package.ts";
import { packageCache, packageFiles } from "../debian/package-cache.ts";
import type { Architecture, Pin, Pins } from "../debian/pins.ts";
import { cacheFolder } from "../debian/private-apt.ts";
import type { Entry } from "../debian/tar.ts";

const triplets = { amd64: "x86_64-linux-gnu", arm64: "aarch64-linux-gnu" } as const;
const targets = { amd64: "x86_64-unknown-linux-gnu", arm64: "aarch64-unknown-linux-gnu" } as const;
const host: Architecture = process.arch === "arm64" ? "arm64" : "amd64";
/** The version of GCC whose libgcc is linked; in the name of its package. */
const gccVersion = "12";
/** rustc looks at the name to know which arguments a linker takes. */
const linkerName = "ld";

export interface ShimTools {
  readonly cargo: string;
  /** Rust's name of the architecture. */
  readonly target: string;
  /** Undefined takes a variable away. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Settings of the user for another compiler. Even an empty one would replace ours. */
const foreign = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTUP_TOOLCHAIN", "CARGO_BUILD_TARGET"];

/** Changes with every package that takes part. */
export function shimToolsKey(architecture: Architecture, pins: Pins): string {
  const hash = createHash("sha256").update(`${linkerName} ${linkerScript(architecture, "")}`);
  for (const { name, version, sha256 } of pinsFor(architecture, pins)) hash.update(`${name} ${version} ${sha256}\n`);
  return hash.digest("hex");
}

/** Cargo, rustc and LLVM's linker from Debian's packages, unpacked into the cache. Nothing is installed. */
export function shimTools(architecture: Architecture, pins: Pins): ShimTools {
  const folder = cacheFolder(`shim-tools-${shimToolsKey(architecture, pins).slice(0, 16)}`);
  if (!existsSync(folder)) unpack(folder, architecture, pins);
  const target = targets[architecture];
  const variable = `CARGO_TARGET_${target.toUpperCase().replaceAll("-", "_")}`;
  return {
    cargo: join(folder, "usr/bin/cargo"),
    target,
    env: {
      ...Object.fromEntries(foreign.map((name) => [name, undefined])),
      RUSTC: join(folder, "usr/bin/rustc"),
      LD_LIBRARY_PATH: [`usr/lib/${triplets[host]}`, "usr/lib/llvm-14/lib", `lib/${triplets[host]}`]
        .map((path) => join(folder, path))
        .join(":"),
      [`${variable}_LINKER`]: join(folder, linkerName),
      // Without a path: cargo hashes the flags into the names of symbols.
      [`${variable}_RUSTFLAGS`]: "-C linker-flavor=ld",
    },
  };
}

function pinsFor(architecture: Architecture, pins: Pins): readonly Pin[] {
  const all = [...pins.of("shim-host", host), ...pins.of("shim-target", architecture)];
  return [...new Map(all.map((pin) => [pin.sha256, pin])).values()];
}

function unpack(folder: string, architecture: Architecture, pins: Pins): void {
  console.log(`The shim's compiler for ${architecture}: unpacking Debian's packages, once`);
  mkdirSync(dirname(folder), { recursive: true });
  const fresh = mkdtempSync(`${folder}.`);
  try {
    for (const file of packageFiles(pinsFor(architecture, pins), packageCache()).values())
      for (const [path, entry] of openDebianPackage(file).files) place(fresh, path, entry);
    writeFileSync(join(fresh, linkerName), linkerScript(architecture, folder), { mode: 0o755 });
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function place(folder: string, path: string, entry: Entry): void {
  const to = join(folder, path);
  mkdirSync(entry.kind === "folder" ? to : dirname(to), { recursive: true });
  if (entry.kind === "symlink") symlinkSync(entry.target, to);
  if (entry.kind === "hardlink") linkSync(join(folder, entry.target), to);
  if (entry.kind === "file") writeFileSync(to, entry.content, { mode: entry.mode & 0o755 });
}

/** rustc calls a linker, not a compiler, so the start files of the C library are named here. */
function linkerScript(architecture: Architecture, folder: string): string {
  const triplet = triplets[architecture];
  const libc = `${folder}/usr/lib/${triplet}`;
  const gcc = `${folder}/usr/lib/gcc/${triplet}/${gccVersion}`;
  const first = `${libc}/crt1.o ${libc}/crti.o ${gcc}/crtbeginT.o`;
  const last = `--start-group -lgcc -lgcc_eh -lc --end-group ${gcc}/crtend.o ${libc}/crtn.o`;
  return `#!/bin/sh\nexec ${folder}/usr/lib/llvm-14/bin/ld.lld --sysroot=${folder} ${first} -L${gcc} -L${libc} "$@" ${last}\n`;
}
