import { existsSync } from "node:fs";
import { cp, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";
import { findGo, moduleSource, runGo } from "./go-tool.ts";
import { buildInto, isBuilt, lastPart, peerFolder, type Peer } from "./peer.ts";

export interface ModulePrograms {
  /** Names the folder in the cache. */
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Packages below the module. */
  readonly packages: readonly string[];
  /** Packages whose program gets another name than the last part of their path; "." is the module itself. */
  readonly named?: Readonly<Record<string, string>>;
  /** Other files and folders of the module that are kept beside the programs, by their path in it. */
  readonly files?: readonly string[];
  /** Modules that it takes from folders which its archive does not have, and the published version of each. */
  readonly replaces?: Readonly<Record<string, string>>;
  /** Files that are added to the module before the build: a program of ours that runs a part of theirs. */
  readonly added?: Readonly<Record<string, string>>;
  readonly ldflags?: string;
  readonly tags?: readonly string[];
  /** Whether Go writes the flags of the build into the programs, as into those of most releases. */
  readonly asReleased?: boolean;
}

/** Builds programs of a Go module, once. The module is built in a copy of its own source, so its own `go.sum` counts. */
export async function modulePrograms(wanted: ModulePrograms): Promise<Peer> {
  const folder = peerFolder(wanted.name, wanted.version);
  const bin = join(folder, "bin");
  const { packages, named = {}, files = [] } = wanted;
  if (isBuilt(bin, [...packages.map(lastPart), ...Object.values(named), ...files.map(lastPart)]))
    return { folder: bin };
  const go = findGo();
  if (go === undefined) return { missing: `Go is not installed, so ${wanted.name} could not be built` };
  process.stdout.write(`Building ${wanted.name} ${wanted.version} from its Go module (once, a few minutes)…\n`);
  const source = await moduleSource(go, wanted.module, wanted.version);
  if (source === undefined) return { missing: `the Go module ${wanted.module} ${wanted.version} could not be fetched` };
  const copy = join(folder, `source.${process.pid}`);
  await mkdir(folder, { recursive: true });
  await cp(source, copy, { recursive: true });
  spawnSync("chmod", ["-R", "u+w", copy]);
  await change(copy, go, wanted);
  const buildComplaint = await buildInto(bin, {
    go,
    cwd: copy,
    packages: packages.map((path) => `./${path}`),
    named: Object.fromEntries(Object.entries(named).map(([path, name]) => [`./${path}`, name])),
    ldflags: wanted.ldflags ?? "",
    tags: wanted.tags ?? [],
    asReleased: wanted.asReleased,
  });
  const complaint = buildComplaint ?? (await keep(copy, bin, files));
  await rm(copy, { recursive: true, force: true });
  return complaint === undefined
    ? { folder: bin }
    : { missing: `${wanted.name} ${wanted.version} could not be built: ${complaint}` };
}

/** A step that fails shows in the build, which says more about it. */
async function change(copy: string, go: string, { replaces = {}, added = {} }: ModulePrograms): Promise<void> {
  for (const [module, version] of Object.entries(replaces))
    await runGo(go, ["mod", "edit", `-replace=${module}=${module}@${version}`], { cwd: copy });
  for (const [file, text] of Object.entries(added)) {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await writeFile(join(copy, file), text);
  }
}

/** What a module lacks, or undefined. */
async function keep(copy: string, bin: string, files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    if (!existsSync(join(copy, file))) return `it has no ${file}`;
    const kept = join(bin, lastPart(file));
    await cp(join(copy, file), `${kept}.${process.pid}`, { recursive: true });
    // A folder of an earlier build is in the way.
    await rm(kept, { recursive: true, force: true });
    await rename(`${kept}.${process.pid}`, kept);
  }
  return undefined;
}
