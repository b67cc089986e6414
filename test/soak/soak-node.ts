import { chmod, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { ClusterSource } from "../../bench/ground/cluster-source.ts";
import { DirectorySource } from "../../bench/ground/directory-source.ts";
import { networkNamespace, type NodeSource } from "../../bench/ground/node-source.ts";
import { journalPath } from "../../src/state/journal/journal-open.ts";
import { missingForApiServer } from "../e2e/policy-server.ts";
import { distributionPlugins, Lab } from "../lab/lab.ts";
import { processFacts, type ProcessFacts } from "./process-facts.ts";
import { ShiftedClock } from "./shifted-clock.ts";
import { SmallDisk } from "./small-disk.ts";

/** Room for the journal of all pods at once, many times over, and quickly filled. */
const stateSize = "16m";
/** Due work is done soon: an hour here stands for weeks. */
const undoRetryMs = 1_000;
const gcIntervalMs = 10_000;
const gcGraceMs = 2_000;
export const podNetworks = { "k8s.v1.cni.cncf.io/networks": `${networkNamespace}/lan` };

/** The node that is soaked: real daemon, resident hand, shims and plugins; its state folder and its clock can be troubled. */
export class SoakNode {
  readonly lab: Lab;
  readonly source: NodeSource;
  readonly clock: ShiftedClock;
  readonly disk: SmallDisk;
  #daemonPid = 0;

  private constructor(parts: { lab: Lab; source: NodeSource; clock: ShiftedClock; disk: SmallDisk }) {
    this.lab = parts.lab;
    this.source = parts.source;
    this.clock = parts.clock;
    this.disk = parts.disk;
  }

  static async start(): Promise<SoakNode> {
    const lab = await Lab.make();
    const source = await startSource(lab);
    const parts = { lab, source, clock: ShiftedClock.make(lab.folder), disk: SmallDisk.mount(lab.stateDir, stateSize) };
    const node = new SoakNode(parts);
    await node.#furnish();
    await node.startDaemon();
    await lab.startHand();
    return node;
  }

  get cluster(): ClusterSource | undefined {
    return this.source instanceof ClusterSource ? this.source : undefined;
  }

  get leases(): string {
    return this.lab.path("ipam");
  }

  daemonFacts(): ProcessFacts {
    return processFacts(this.#daemonPid);
  }

  get daemonPid(): number {
    return this.#daemonPid;
  }

  /** Takes the last line out of the journal, as a repair of the file system does. The daemon must be down. */
  async loseLastLine(): Promise<void> {
    const path = journalPath(this.lab.stateDir);
    const file = await readFile(path);
    const end = file.lastIndexOf("\n");
    await truncate(path, file.lastIndexOf("\n", end - 1) + 1);
  }

  async startDaemon(): Promise<void> {
    const daemon = await this.lab.startDaemon({ ...this.source.env, ...this.clock.env });
    this.#daemonPid = daemon.pid ?? 0;
  }

  /** From now on the bridge plugin fails, or hangs, or is itself again. */
  async spoil(how: "fail" | "hang" | undefined): Promise<void> {
    for (const each of ["fail", "hang"]) await rm(this.lab.path(each), { force: true });
    if (how !== undefined) await writeFile(this.lab.path(how), "");
  }

  async stop(): Promise<void> {
    await this.lab.killHand();
    await this.lab.killDaemon();
    this.disk.unmount();
    await this.lab.remove();
    await this.source.stop();
  }

  async #furnish(): Promise<void> {
    const { lab } = this;
    await mkdir(this.leases);
    await writeFile(lab.path("bin/moody-bridge"), moodyBridge(lab.folder));
    await chmod(lab.path("bin/moody-bridge"), 0o755);
    await this.source.addNetwork("lan", this.#network("lan", "10.78.0.0/16"));
    await lab.configure({
      directory: undefined,
      delegates: [this.#network("primary", "10.77.0.0/16")],
      undoRetryMs,
      gcIntervalMs,
      gcGraceMs,
      logLevel: "error",
      deviceInfoDir: lab.path("devinfo"),
      ...this.source.settings,
    });
  }

  #network(name: string, subnet: string): Readonly<Record<string, unknown>> {
    const ipam = { type: "host-local", dataDir: this.leases, ranges: [[{ subnet }]] };
    return { cniVersion: "1.0.0", name, type: "moody-bridge", bridge: `soak-${name}`, ipam };
  }
}

/** The distribution's bridge, unless it was told to have a mood. */
function moodyBridge(folder: string): string {
  return `#!/bin/sh
if [ -e ${folder}/fail ]; then echo '{"cniVersion":"1.0.0","code":100,"msg":"the bridge is out of order"}'; exit 1; fi
if [ -e ${folder}/hang ]; then exec sleep 120; fi
exec ${distributionPlugins}/bridge
`;
}

function startSource(lab: Lab): NodeSource | Promise<NodeSource> {
  const missing = missingForApiServer();
  return missing === undefined ? ClusterSource.start() : DirectorySource.make(lab.path("directory"), missing);
}
