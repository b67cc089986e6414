import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { runGo } from "./go-tool.ts";

/** Programs of others that were built here, or why they could not be. */
export type Peer = { readonly folder: string } | { readonly missing: string };

/** The folder of a peer that was built before. */
export function builtFolder(peer: Peer): string {
  if ("missing" in peer) throw new Error(`A program is missing: ${peer.missing}`);
  return peer.folder;
}

/** The folder that keeps what is built once per version, over checkouts and clean builds. */
export function peerFolder(name: string, version: string): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "levee", `${name}-${version}`);
}

export function isBuilt(bin: string, programs: readonly string[]): boolean {
  return programs.every((program) => existsSync(join(bin, program)));
}

export interface GoBuild {
  readonly go: string;
  readonly cwd: string;
  readonly packages: readonly string[];
  readonly ldflags: string;
  readonly tags?: readonly string[];
  /** Whether Go writes the flags of the build into the programs, as into those of most releases. */
  readonly asReleased?: boolean | undefined;
  /** Packages whose program gets another name than the last part of their path. */
  readonly named?: Readonly<Record<string, string>>;
}

/** Builds packages into `bin`, each under the last part of its path. A build that is cut off leaves nothing that counts as built. */
export async function buildInto(bin: string, build: GoBuild): Promise<string | undefined> {
  // Two builds may meet.
  const part = `${bin}.${process.pid}`;
  await mkdir(part, { recursive: true });
  await mkdir(bin, { recursive: true });
  try {
    const complaint = await buildAll(part, build);
    if (complaint !== undefined) return complaint;
    for (const name of [...build.packages.map(lastPart), ...Object.values(build.named ?? {})])
      await rename(join(part, name), join(bin, name));
    return undefined;
  } finally {
    await rm(part, { recursive: true });
  }
}

async function buildAll(part: string, build: GoBuild): Promise<string | undefined> {
  const { packages, named = {}, tags = [], ldflags, asReleased = false } = build;
  const flags = asReleased ? ["-ldflags", ldflags] : ["-trimpath", "-ldflags", `-s -w ${ldflags}`];
  const builds = [
    ...(packages.length === 0 ? [] : [{ out: `${part}/`, packages }]),
    ...Object.entries(named).map(([path, name]) => ({ out: join(part, name), packages: [path] })),
  ];
  for (const { out, packages: some } of builds) {
    const tagged = tags.length === 0 ? [] : [`-tags=${tags.join(",")}`];
    const args = ["build", ...tagged, ...flags, "-o", out, ...some];
    const env = asReleased ? { CGO_ENABLED: "0" } : {};
    const { isDone, complaint } = await runGo(build.go, args, { cwd: build.cwd, env });
    if (!isDone) return complaint;
  }
  return undefined;
}

export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
