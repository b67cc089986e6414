import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { findGo, moduleSource } from "./go-tool.ts";
import { buildInto, isBuilt, peerFolder, type Peer } from "./peer.ts";

export interface ModulePrograms {
  /** Names the folder in the cache. */
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Packages below the module. */
  readonly packages: readonly string[];
  readonly ldflags?: string;
}

/** Builds programs of a Go module, once. The module is built in a copy of its own source, so its own `go.sum` counts. */
export async function modulePrograms(wanted: ModulePrograms): Promise<Peer> {
  const folder = peerFolder(wanted.name, wanted.version);
  const bin = join(folder, "bin");
  const programs = wanted.packages.map((path) => path.slice(path.lastIndexOf("/") + 1));
  if (isBuilt(bin, programs)) return { folder: bin };
  const go = findGo();
  if (go === undefined) return { missing: `Go is not installed, so ${wanted.name} could not be built` };
  process.stdout.write(`Building ${wanted.name} ${wanted.version} from its Go module (once, a few minutes)…\n`);
  const source = await moduleSource(go, wanted.module, wanted.version);
  if (source === undefined) return { missing: `the Go module ${wanted.module} ${wanted.version} could not be fetched` };
  const copy = join(folder, `source.${process.pid}`);
  await mkdir(folder, { recursive: true });
  await cp(source, copy, { recursive: true });
  spawnSync("chmod", ["-R", "u+w", copy]);
  const complaint = await buildInto(bin, {
    go,
    cwd: copy,
    packages: wanted.packages.map((path) => `./${path}`),
    ldflags: wanted.ldflags ?? "",
  });
  await rm(copy, { recursive: true, force: true });
  return complaint === undefined
    ? { folder: bin }
    : { missing: `${wanted.name} ${wanted.version} could not be built: ${complaint}` };
}
