import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { moduleSource } from "./go-tool.ts";

/** How many modules are fetched at a time: they come over the network, not from the processor. */
const fetchesMax = 6;

export interface StagingPick {
  readonly module: string;
  readonly version: string;
}

/**
 * Kubernetes' own `go.mod` takes its staging modules from folders that a module archive does not have, so each is taken
 * from its published version. Not every one is published for every patch: the newest that can be had is good enough.
 */
export async function stagingPicks(go: string, source: string, version: string): Promise<readonly StagingPick[]> {
  const [, minor = "", patch = ""] = /^v1\.(\d+)\.(\d+)$/.exec(version) ?? [];
  const waiting = stagingModules(await readFile(join(source, "go.mod"), "utf8"));
  const picks: StagingPick[] = [];
  const fetchAll = async (): Promise<void> => {
    for (let module = waiting.shift(); module !== undefined; module = waiting.shift())
      picks.push(await newest(go, module, { minor, patchMax: Number(patch) }));
  };
  await Promise.all(Array.from({ length: fetchesMax }, fetchAll));
  return picks.toSorted((a, b) => (a.module < b.module ? -1 : 1));
}

function stagingModules(goMod: string): string[] {
  return [...goMod.matchAll(/^\s*(k8s\.io\/[a-z-]+) => \.\/staging\/src\//gm)].map((match) => match[1] ?? "");
}

async function newest(go: string, module: string, of: { minor: string; patchMax: number }): Promise<StagingPick> {
  for (let patch = of.patchMax; patch >= 0; patch -= 1) {
    const version = `v0.${of.minor}.${patch}`;
    if ((await moduleSource(go, module, version)) !== undefined) return { module, version };
  }
  throw new Error(`No version of the Go module ${module} up to v0.${of.minor}.${of.patchMax} could be fetched`);
}
