import { existsSync, statSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { runTool, type Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { ip, requireToolSuccess } from "../node/netns.ts";
import { requireRoot } from "../node/require-root.ts";
import { isSuccess } from "../run-program.ts";
import { ownPlugins, readSiteConf, requirePlugins, type SiteConf } from "./site-confs.ts";
import { netnsNameOf } from "./fleet.ts";
import { readKernelFile } from "./machine/kernel-file.ts";
import { stormDaemonConfig, networkConf, networkManifest, podManifest } from "./manifests.ts";
import type { NetnsBatch } from "./netns-batch.ts";
import { makeOwnDisk } from "./machine/own-disk.ts";
import type { StormPlan } from "./plan.ts";
import { mibText } from "./quantity.ts";
import { ownNetworks, site, stormPaths, type OwnNetwork, type StormPaths, type StormPods } from "./site.ts";

/** What the next storm must know to clean up after this one. */
export interface Marker {
  readonly workDir: string;
  /** The folders in which the site's own networks book addresses. */
  readonly leases: readonly string[];
}

/** The networks that one storm uses. */
export interface StormNetworks {
  /** Empty with the site's own networks, whose interfaces we do not touch. */
  readonly bridges: readonly string[];
  /** Folders in which addresses are booked. */
  readonly leases: readonly string[];
}

/** Throws if something is missing, before anything is made. */
export async function requireStormMachine({ shell, settings }: Context, plan: StormPlan): Promise<void> {
  requireRoot(shell);
  if (!existsSync(settings.shim)) {
    throw new CommandFailure("shim-missing", `Cannot find the shim: there is no ${settings.shim}`, {
      remedy: "npm run build, or name it with --shim FILE",
    });
  }
  requireFiles(plan);
  await requireRoom(plan, shell.self[0]);
  if (plan.delegates.length === 0) requirePlugins(ownPlugins, settings.cniPath);
  for (const path of plan.delegates) requirePlugins((await readSiteConf(path)).plugins, settings.cniPath);
}

/** Files that this process has open besides one per running call. */
const filesOfOurOwn = 100;

/** A storm that fails at this shell's limit would say nothing about the daemon. */
function requireFiles({ pods, second }: StormPlan): void {
  const most = Number(/^Max open files\s+(\d+)/mu.exec(readKernelFile("/proc/self/limits"))?.[1] ?? Infinity);
  const needed = pods + second.pods + filesOfOurOwn;
  if (needed <= most) return;
  throw new CommandFailure(
    "limit-too-low",
    `Cannot drive ${pods} pods: this needs ${needed} open files, and the limit is ${most}`,
    {
      remedy: `ulimit -n ${needed} in the same shell, or fewer pods`,
    },
  );
}

/** For journal, recorder, logs and file system, whatever the size of the storm. */
const roomBytes = 200 * 1024 ** 2;
/** For a pod's manifest, addresses, records and mirrored files; each takes a block or two. */
const roomBytesPerPod = 64 * 1024;

/** A full disk during the storm would say nothing about the daemon, and would harm the node. */
async function requireRoom({ workDir, pods, second }: StormPlan, program: string): Promise<void> {
  const { bavail, bsize } = await statfs(workDir);
  const neededBytes = statSync(program).size + roomBytes + (pods + second.pods) * roomBytesPerPod;
  if (bavail * bsize >= neededBytes) return;
  throw new CommandFailure(
    "disk-full",
    `Cannot rehearse ${pods} pods in ${workDir}: this needs ${mibText(neededBytes)}, and ${mibText(bavail * bsize)} are free`,
    { remedy: "--work-dir with a folder that has room" },
  );
}

/** Makes folders, configuration, networks, pods and their namespaces: everything before the daemon starts. */
export async function prepareStorm(
  context: Context,
  plan: StormPlan,
  { pods, netns }: { readonly pods: StormPods; readonly netns: NetnsBatch },
): Promise<StormNetworks> {
  const paths = stormPaths(plan.workDir);
  const delegates = await Promise.all(plan.delegates.map(readSiteConf));
  // A client of the socket can run plugins as root, so the daemon insists that only root may enter its folder.
  await mkdir(site.runDir, { mode: 0o700 });
  await mark(plan, delegates);
  if (plan.readAheadKib !== undefined) await makeOwnDisk(context.shell, paths, plan.readAheadKib);
  for (const folder of [site.calls, paths.root, paths.journal]) await mkdir(folder, { mode: 0o700, recursive: true });
  for (const folder of [paths.directory, paths.networks, paths.pods])
    await mkdir(folder, { mode: 0o755, recursive: true });
  const networks =
    delegates.length === 0 ? await makeOwn(context, plan) : await takeDelegates(context, plan, delegates);
  const all = [...pods.second, ...pods.burst];
  for (const pod of all) await write(join(paths.pods, `${pod.namespace}.${pod.name}.json`), podManifest(pod));
  await netns.add(all.map(netnsNameOf));
  return networks;
}

/**
 * Copies the daemon's program to a file that is not in the page cache. On a fresh node a container's program text is charged
 * to its own cgroup; the text of our own file is charged to us, and the measurement would be too good.
 */
export async function freshProgram(
  { shell }: Context,
  { program }: StormPaths,
): Promise<readonly [string, ...string[]]> {
  const [file, ...script] = shell.self;
  if (script.length > 0) return shell.self; // From source the program is the interpreter, so there is nothing to copy.
  const copied = await runTool(shell, "dd", [`if=${file}`, `of=${program}`, "bs=1M", "conv=fdatasync"]);
  // With count=0, dd only asks the kernel to drop the file from its cache.
  const dropped = await runTool(shell, "dd", [`if=${program}`, "iflag=nocache", "count=0"]);
  const marked = await runTool(shell, "chmod", ["755", program]);
  const bad = [copied, dropped, marked].find((end) => !isSuccess(end));
  if (bad !== undefined)
    throw new CommandFailure("copy-failed", `Cannot copy ${file} to ${program}: ${bad.stderr.trim()}`, {
      remedy: `make room for ${program}`,
    });
  return [program];
}

async function makeOwn(context: Context, plan: StormPlan): Promise<StormNetworks> {
  const networks = ownNetworks(plan).flat();
  const paths = stormPaths(plan.workDir);
  for (const network of networks) {
    await makeBridge(context, network);
    await write(
      join(paths.networks, `${network.name}.json`),
      networkManifest(network.name, networkConf(network, paths)),
    );
  }
  await write(paths.config, stormDaemonConfig(paths, networks[0]?.name ?? "", binDirOf(context)));
  return { bridges: networks.map(({ bridge }) => bridge), leases: networks.map(({ name }) => join(paths.ipam, name)) };
}

async function takeDelegates(
  context: Context,
  plan: StormPlan,
  delegates: readonly SiteConf[],
): Promise<StormNetworks> {
  const paths = stormPaths(plan.workDir);
  for (const [at, { content }] of delegates.entries())
    if (at > 0) await write(join(paths.networks, `site${at}.json`), networkManifest(`site${at}`, content));
  await write(paths.config, stormDaemonConfig(paths, delegates[0]?.path ?? "", binDirOf(context)));
  return { bridges: [], leases: leasesOf(delegates) };
}

/** Written before anything else is made, so that the next storm can clean up after this one. */
async function mark(plan: StormPlan, delegates: readonly SiteConf[]): Promise<void> {
  const marker: Marker = { workDir: plan.workDir, leases: leasesOf(delegates) };
  await write(site.marker, JSON.stringify(marker));
}

function leasesOf(delegates: readonly SiteConf[]): readonly string[] {
  return delegates.flatMap(({ leases }) => leases);
}

async function makeBridge({ shell }: Context, { bridge }: OwnNetwork): Promise<void> {
  const doing = `Cannot make the bridge ${bridge}`;
  requireToolSuccess(shell, await ip(shell, ["link", "add", bridge, "type", "bridge"]), doing);
  requireToolSuccess(shell, await ip(shell, ["link", "set", bridge, "up"]), doing);
}

function binDirOf({ settings }: Context): string {
  return settings.cniPath.split(":").find((folder) => folder !== "") ?? "/opt/cni/bin";
}

function write(path: string, content: string): Promise<void> {
  return writeFileAtomically(path, content, { mode: 0o644, sync: false });
}
