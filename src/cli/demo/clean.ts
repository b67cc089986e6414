import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import { netnsName, podText } from "../node/names.ts";
import { netnsPath, removeNetns } from "../node/netns.ts";
import { listPodFiles } from "../node/pod-file.ts";
import { hasLink, removeBridges } from "./bridges.ts";
import { endStale, staleProcesses } from "./stale-processes.ts";
import { sitePaths, type Site } from "./site.ts";

/** What a cleanup removed, and what it could not remove. */
interface Cleaned {
  readonly removed: readonly string[];
  readonly left: readonly string[];
}

/**
 * Removes everything of the site by force, without the daemon's help: at the end of a demo, and after a killed demo. The
 * order matters: 1. processes, so that nothing new is made; 2. namespaces, and with them the interfaces in the bridges;
 * 3. bridges; 4. folders last, because they hold the list of namespaces: an interrupted cleanup can be repeated.
 */
export async function cleanSite(context: Context, site: Site): Promise<Cleaned> {
  const { shell } = context;
  const removed: string[] = [];
  const problems: string[] = [];
  const attempt = async (work: () => Promise<readonly string[]>): Promise<void> => {
    try {
      removed.push(...(await work()));
    } catch (error) {
      problems.push(toFailure(error).message);
    }
  };
  await attempt(async () => {
    const stale = await staleProcesses(site);
    await endStale(shell, site);
    return stale.map((pid) => `process ${pid}`);
  });
  // Without the folder no demo made anything, so a bridge or namespace of that name is not ours.
  const isMade = existsSync(site.stateDir);
  const names = isMade ? await siteNetns(site) : [];
  for (const name of names) await attempt(async () => ((await removeNetns(shell, name)) ? [netnsPath(name)] : []));
  if (isMade) await attempt(() => removeBridges(shell, site));
  const folders = problems.length === 0 ? [site.runDir, site.stateDir] : [];
  for (const folder of folders) await attempt(() => removeFolder(folder));
  return { removed, left: [...problems, ...(isMade ? await leftovers(site, names) : [])] };
}

/** What is left of the site. Empty means that the machine is as before. */
export async function leftovers(site: Site, netnsNames: readonly string[]): Promise<readonly string[]> {
  const paths = [site.runDir, site.stateDir, ...netnsNames.map(netnsPath)].filter((path) => existsSync(path));
  const bridges = site.networks.map(({ bridge }) => bridge).filter(hasLink);
  const processes = await staleProcesses(site);
  return [...paths, ...bridges.map((name) => `bridge ${name}`), ...processes.map((pid) => `process ${pid}`)];
}

/** The namespaces of every pod in the site's directory, and of the demo pod even if its file was never written. */
async function siteNetns(site: Site): Promise<readonly string[]> {
  const pods = await listPodFiles(sitePaths(site).directory);
  return [...new Set([netnsName(site.pod), ...pods.map(({ netns }) => netns)])];
}

async function removeFolder(path: string): Promise<readonly string[]> {
  if (!existsSync(path)) return [];
  await rm(path, { recursive: true, force: true });
  return [path];
}

export function cleanedText(site: Site, cleaned: Cleaned): string {
  if (cleaned.left.length > 0) return `Left behind, please remove by hand: ${cleaned.left.join(", ")}`;
  const bridges = site.networks.map(({ bridge }) => bridge).join(", ");
  return `Nothing is left: no network namespace, no bridge (${bridges}), no process, no file (${site.runDir}, ${site.stateDir}); ${podText(site.pod)} is gone`;
}
