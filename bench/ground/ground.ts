import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { LimitedGroup } from "../../src/cli/storm/machine/limited-group.ts";
import { NetnsBatch } from "../../src/cli/storm/netns-batch.ts";
import type { GroupLimits } from "../../src/cli/storm/machine/group-files.ts";
import { distributionPlugins } from "../../test/lab/lab.ts";
import { cniPlugins } from "../../test/peers/cni-plugins.ts";
import { missingForApiServer } from "../../test/e2e/policy-server.ts";
import { ClusterSource } from "./cluster-source.ts";
import { DirectorySource } from "./directory-source.ts";
import { MeasuredDisk } from "./measured-disk.ts";
import { allNetworks, confOf, primary, removeNetworks } from "./networks.ts";
import type { NodeSource } from "./node-source.ts";

const dist = join(import.meta.dir, "../../dist");
const plugins = ["bridge", "host-local"] as const;

/** The ground for every contender: one disk, one API server, the same plugins, networks and network namespaces. */
export class Ground {
  readonly scratch: string;
  readonly disk: MeasuredDisk;
  readonly source: NodeSource;
  readonly netns: NetnsBatch;
  /** The cgroup of a container runtime: this process, the shims and their children. */
  readonly runtimeGroup: LimitedGroup;
  #groups = 0;

  private constructor(parts: { scratch: string; disk: MeasuredDisk; source: NodeSource; runtimeGroup: LimitedGroup }) {
    this.scratch = parts.scratch;
    this.disk = parts.disk;
    this.source = parts.source;
    this.runtimeGroup = parts.runtimeGroup;
    this.netns = new NetnsBatch(systemClock, { PATH: process.env["PATH"] ?? "" }, "b-");
  }

  static async make(scratch: string): Promise<Ground> {
    const disk = MeasuredDisk.make(scratch);
    await installPrograms(disk);
    // Before this process enters the runtime's group, because the API server must stay outside.
    const source = await startSource(scratch);
    const runtimeGroup = await LimitedGroup.make(systemClock, `${basename(scratch)}-runtime`, {});
    runtimeGroup.add(process.pid);
    const ground = new Ground({ scratch, disk, source, runtimeGroup });
    for (const network of allNetworks) await source.addNetwork(network.name, confOf(network, ground.leases));
    ground.writePrimary();
    return ground;
  }

  /** Folder of every program that is measured. */
  get bin(): string {
    return this.disk.path("bin");
  }

  get leases(): string {
    return this.disk.path("leases");
  }

  /** The folder where a runtime looks for the primary network's configuration. */
  get primaryFolder(): string {
    return this.disk.path("net.d");
  }

  /** The primary network, with its usual plugin or another program in its place. */
  writePrimary(type = "bridge"): void {
    mkdirSync(this.primaryFolder, { recursive: true });
    writeFileSync(join(this.primaryFolder, "10-primary.conf"), JSON.stringify(confOf(primary, this.leases, type)));
  }

  /** An empty folder on the measured disk. */
  emptyFolder(name: string): string {
    const folder = this.disk.path(name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  /** A folder in memory for files that are not measured. */
  runFolder(name: string): string {
    const folder = join("/run", name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }

  group(limits: GroupLimits): Promise<LimitedGroup> {
    this.#groups += 1;
    return LimitedGroup.make(systemClock, `${basename(this.scratch)}-${this.#groups}`, limits);
  }

  /** Restores the state of a node that has had no pod yet. */
  async clear(): Promise<void> {
    await this.netns.removeAll();
    removeNetworks(this.leases);
    this.disk.dropPageCache();
  }

  async remove(): Promise<void> {
    await this.netns.removeAll();
    removeNetworks(this.leases);
    await this.source.stop();
    this.disk.remove();
  }
}

async function installPrograms(disk: MeasuredDisk): Promise<void> {
  const peer = await cniPlugins();
  const folder = "folder" in peer ? peer.folder : distributionPlugins;
  for (const plugin of plugins) disk.install(join(folder, plugin));
  for (const program of ["levee", "levee-shim"]) {
    const path = join(dist, program);
    if (!existsSync(path)) throw new Error(`Cannot measure as ${path} is not built; run: npm run build`);
    disk.install(path);
  }
}

async function startSource(scratch: string): Promise<NodeSource> {
  const missing = missingForApiServer();
  return missing === undefined ? ClusterSource.start() : DirectorySource.make(join(scratch, "directory"), missing);
}
