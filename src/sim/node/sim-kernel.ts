import type { Seeded } from "../time/seeded.ts";
import { SimProcess } from "../time/sim-process.ts";
import type { SimTime } from "../time/sim-time.ts";

/** A network namespace. Its links end with it. */
export interface SimNetns {
  readonly path: string;
  readonly inode: bigint;
  readonly cookie: bigint;
  /** Interface names, and the network and address of each. */
  readonly links: Map<string, string>;
  /** How many processes are in it. */
  users: number;
}

/** An address that IPAM holds for an interface of a container, as host-local does: a file that survives a reboot. */
export interface SimLease {
  readonly address: string;
  readonly containerId: string;
  readonly ifname: string;
  readonly sinceWallMs: number;
}

/** A process that leads a session: a shim, or the resident hand. */
export interface SimSession {
  readonly pid: number;
  readonly startTicks: number;
  readonly process: SimProcess;
  /** Stops each plugin that it has started and that still runs. */
  readonly plugins: Set<() => void>;
}

const firstInode = 4_026_532_000n;
const firstPid = 1_000;

/** What the kernel and the files of others know on one node: namespaces, processes, addresses, results of libcni. */
export class SimKernel {
  readonly netns = new Map<string, SimNetns>();
  /** By network and address. */
  readonly leases = new Map<string, Map<string, SimLease>>();
  /** Names of result files in libcni's cache, and when each was written. */
  readonly results = new Map<string, number>();
  readonly sessions = new Map<number, SimSession>();
  readonly #time: SimTime;
  readonly #seeded: Seeded;
  /** Numbers of namespaces in use, from the first one on. */
  readonly #inodes = new Set<number>();
  /** How many interfaces have each address of a network. */
  readonly #holders = new Map<string, number>();
  #boots = 0;
  #bootWallMs = 0;
  #cookies = 0n;
  #pids = firstPid;

  constructor(time: SimTime, seeded: Seeded) {
    this.#time = time;
    this.#seeded = seeded;
    this.boot();
  }

  get bootId(): string {
    return `00000000-0000-4000-8000-${String(this.#boots).padStart(12, "0")}`;
  }

  get bootWallMs(): number {
    return this.#bootWallMs;
  }

  /** All that lives in memory is gone. Addresses and results are files. */
  boot(): void {
    for (const { process, plugins } of this.sessions.values()) {
      process.kill();
      for (const stop of plugins) stop();
    }
    this.sessions.clear();
    this.netns.clear();
    this.#inodes.clear();
    this.#holders.clear();
    this.#boots += 1;
    this.#bootWallMs = this.#time.wallMs;
    this.#pids = firstPid;
  }

  makeNetns(path: string): SimNetns {
    // The kernel gives the number of a dead namespace to a new one within moments.
    let at = 0;
    while (this.#inodes.has(at)) at += 1;
    this.#inodes.add(at);
    const inode = firstInode + BigInt(at);
    this.#cookies += 1n;
    const made = { path, inode, cookie: this.#cookies, links: new Map<string, string>(), users: 0 };
    this.netns.set(path, made);
    return made;
  }

  removeNetns(path: string): void {
    const gone = this.netns.get(path);
    if (gone === undefined) return;
    for (const ifname of [...gone.links.keys()]) this.removeLink(path, ifname);
    this.#inodes.delete(Number(gone.inode - firstInode));
    this.netns.delete(path);
  }

  /** An interface with an address of a network. */
  addLink(netns: SimNetns, ifname: string, place: string): void {
    netns.links.set(ifname, place);
    this.#holders.set(place, this.holdersOf(place) + 1);
  }

  removeLink(path: string, ifname: string): void {
    const links = this.netns.get(path)?.links;
    const place = links?.get(ifname);
    if (place === undefined) return;
    links?.delete(ifname);
    const left = this.holdersOf(place) - 1;
    if (left > 0) this.#holders.set(place, left);
    else this.#holders.delete(place);
  }

  /** How many interfaces have one address of a network. */
  holdersOf(place: string): number {
    return this.#holders.get(place) ?? 0;
  }

  newSession(name: string): SimSession {
    this.#pids += this.#seeded.whole(1, 3);
    const session = {
      pid: this.#pids,
      startTicks: Math.floor(this.#time.nowMs / 10),
      process: this.newProcess(name),
      plugins: new Set<() => void>(),
    };
    this.sessions.set(session.pid, session);
    return session;
  }

  newProcess(name: string): SimProcess {
    return new SimProcess(this.#time, this.#seeded.fork(name));
  }

  /** The leader is gone. Its plugins go on, until they end or somebody reaps them. */
  endSession(session: SimSession): void {
    session.process.kill();
    if (session.plugins.size === 0) this.sessions.delete(session.pid);
  }

  /** How many pods are attached: as many as have an address of the network that most of them use. */
  get attached(): number {
    let most = 0;
    for (const { size } of this.leases.values()) most = Math.max(most, size);
    return most;
  }

  leasesOf(network: string): Map<string, SimLease> {
    const known = this.leases.get(network) ?? new Map<string, SimLease>();
    this.leases.set(network, known);
    return known;
  }
}
