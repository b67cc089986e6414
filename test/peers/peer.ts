import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { runGo } from "./go-tool.ts";

/** Programs of others that were built here, or why they could not be. */
export type Peer = { readonly folder: string } | { readonly missing: string };

/** The folder that keeps what is built once per version, over checkouts and clean builds. */
export function peerFolder(name: string, version: string): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  return join(cache, "levee", `${name}-${version}`);
}

export function isBuilt(bin: string, programs: readonly string[]): boolean {
  return programs.every((program) => existsSync(join(bin, program)));
}

/** Builds packages into `bin`, each under the last part of its path. A build that is cut off leaves nothing that counts as built. */
export async function buildInto(
  bin: string,
  build: { go: string; cwd: string; packages: readonly string[]; ldflags: string },
): Promise<string | undefined> {
  // Two builds may meet.
  const part = `${bin}.${process.pid}`;
  await mkdir(part, { recursive: true });
  await mkdir(bin, { recursive: true });
  const args = ["build", "-trimpath", "-ldflags", `-s -w ${build.ldflags}`, "-o", `${part}/`, ...build.packages];
  const { isDone, complaint } = await runGo(build.go, args, { cwd: build.cwd });
  const names = isDone ? build.packages.map((path) => path.slice(path.lastIndexOf("/") + 1)) : [];
  for (const name of names) await rename(join(part, name), join(bin, name));
  await rm(part, { recursive: true });
  return isDone ? undefined : complaint;
}
