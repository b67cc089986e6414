import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import type { Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import { ip, requireToolSuccess } from "../node/netns.ts";
import { LimitedGroup } from "./machine/limited-group.ts";
import type { NetnsBatch } from "./netns-batch.ts";
import { removeOwnDisk } from "./machine/own-disk.ts";
import type { Marker } from "./prepare.ts";
import { site, stormPaths } from "./site.ts";

/** What a cleanup removed, and what it could not remove. */
interface Cleared {
  readonly removed: readonly string[];
  readonly left: readonly string[];
}

/**
 * Removes everything of a storm by force, without the daemon's help: at a storm's end, and after a killed storm. The folder
 * goes last, because it is the marker: an interrupted cleanup can be repeated.
 */
export async function clearSite(context: Context, netns: NetnsBatch): Promise<Cleared> {
  const removed: string[] = [];
  const left: string[] = [];
  const attempt = async (work: () => Promise<string | undefined>): Promise<void> => {
    try {
      const what = await work();
      if (what !== undefined) removed.push(what);
    } catch (error) {
      left.push(toFailure(error).message);
    }
  };
  await attempt(() => removeGroup(context));
  await attempt(() => endProcesses(context));
  // Without the folder no storm made anything, so a bridge of that name is not ours.
  if (!existsSync(site.runDir)) return { removed, left };
  await attempt(() => removeNetns(netns));
  await attempt(() => removeBridges(context));
  const marker = await readMarker();
  await attempt(() => removeLeases(marker));
  await attempt(() => removeDisk(context, marker));
  if (left.length === 0) await attempt(() => removeFolders(marker));
  return { removed, left };
}

async function removeGroup({ shell }: Context): Promise<string | undefined> {
  const group = LimitedGroup.existing(shell.clock, site.group);
  if (group === undefined) return undefined;
  await group.remove();
  return `the cgroup ${site.group}`;
}

const endedWithinMs = 5000;
const endedPollMs = 20;

async function endProcesses({ shell }: Context): Promise<string | undefined> {
  const first = siteProcesses().length;
  const endMs = shell.clock.monotonicMs() + endedWithinMs;
  for (let pids = siteProcesses(); pids.length > 0; pids = siteProcesses()) {
    for (const pid of pids) kill(pid);
    if (shell.clock.monotonicMs() > endMs) throw new Error(`Cannot end the processes ${pids.join(", ")}`);
    await shell.clock.sleep(endedPollMs);
  }
  return first === 0 ? undefined : plural(first, "process", "processes");
}

/** Finds shims and plugins by their network namespace, the resident hand by its folder. */
function siteProcesses(): readonly number[] {
  const mark = `CNI_NETNS=/var/run/netns/${site.netnsPrefix}`;
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/u.test(name))
    .filter((pid) => {
      if (textOf(`/proc/${pid}/environ`).includes(mark)) return true;
      const args = textOf(`/proc/${pid}/cmdline`).split("\0");
      return args.includes("--resident") && args.includes(site.runDir);
    })
    .map(Number);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error; // It ended by itself.
  }
}

async function removeNetns(netns: NetnsBatch): Promise<string | undefined> {
  const count = netns.existing().length;
  await netns.removeAll();
  return count === 0 ? undefined : plural(count, "network namespace", "network namespaces");
}

async function removeBridges({ shell }: Context): Promise<string | undefined> {
  const bridges = readdirSync("/sys/class/net").filter((name) => name.startsWith(`${site.bridgePrefix}-`));
  for (const bridge of bridges)
    requireToolSuccess(shell, await ip(shell, ["link", "del", bridge]), `Cannot remove the bridge ${bridge}`);
  return bridges.length === 0 ? undefined : plural(bridges.length, "bridge", "bridges");
}

/** Removes addresses from the folders of the site's own networks; those of our networks go with our folder. */
async function removeLeases({ leases }: Partial<Marker>): Promise<string | undefined> {
  const ours = (leases ?? []).flatMap(leasesIn);
  for (const path of ours) await rm(path, { force: true });
  return ours.length === 0 ? undefined : plural(ours.length, "booked address", "booked addresses");
}

/** host-local's files for our containers: `<folder>/<address>`, with the container on the first line. */
export function leasesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^[0-9a-f]+[.:]/u.test(name))
    .map((name) => join(folder, name))
    .filter((path) => textOf(path).startsWith(site.containerIdPrefix));
}

async function removeDisk({ shell }: Context, { workDir }: Partial<Marker>): Promise<string | undefined> {
  if (workDir === undefined) return undefined;
  return (await removeOwnDisk(shell, stormPaths(workDir))) ? "its disk" : undefined;
}

/** Reads our own file. A storm that was killed before it wrote the file made nothing else. */
async function readMarker(): Promise<Partial<Marker>> {
  return JSON.parse(await readFile(site.marker, "utf8").catch(() => "{}")) as Partial<Marker>;
}

/** The folder in /run goes last, because it is the marker. */
async function removeFolders({ workDir }: Partial<Marker>): Promise<string | undefined> {
  const folders = [...(workDir === undefined ? [] : [stormPaths(workDir).root]), site.runDir];
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
  return folders.join(" and ");
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // Gone meanwhile.
  }
}
