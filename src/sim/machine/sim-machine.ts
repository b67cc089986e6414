import type { LoadFacts } from "../../admission/load/host-load.ts";
import type { Cancel } from "../../base/clock.ts";
import type { SimTime } from "../time/sim-time.ts";
import { CpuGroup } from "./cpu-group.ts";
import { DaemonCpu } from "./daemon-cpu.ts";
import type { MachineModel } from "./machine-model.ts";
import { SimCores } from "./sim-cores.ts";

/** Whose daemon it is. */
export type DaemonKind = "levee" | "multus";

/** The limits of the daemon's container. */
export interface ContainerLimits {
  readonly limitBytes: number;
  /** Undefined without a limit. */
  readonly cpuMillis: number | undefined;
}

export const mibBytes = 2 ** 20;
/** The first message of a call only puts it in line. */
const greetingShare = 0.75;
/** Page tables, sockets and stacks of the kernel, which count and cannot be reclaimed. */
const kernelMib = 2;

/** When an interface that has come up announces itself: duplicate address detection and multicast take a second. */
const floodAfterMs = 1_000;

interface PluginCourse {
  readonly already: number;
  /** How much longer than usual this run takes. */
  readonly factor: number;
  /** How much of its time is over when it acts. */
  readonly share: number;
  /** How long it waits instead of what is usual; infinity for one that hangs, and then it does not act. */
  readonly waitMs?: number | undefined;
  readonly act: () => void;
  /** It has no more to compute, and waits. */
  readonly rest: () => void;
  readonly finish: () => void;
}

interface MachineNeeds {
  readonly model: MachineModel;
  readonly limits: ContainerLimits;
  readonly kind?: DaemonKind;
}

/** The cores of a node, and the cgroup of the daemon on it. */
export class SimMachine {
  readonly model: MachineModel;
  readonly limits: ContainerLimits;
  readonly cores: SimCores;
  /** What Multus and its plugins compute on: the share of the cores that the daemon's cgroup may use. */
  readonly group: CpuGroup;
  /** The runtime starts its calls on it. */
  readonly #runtime: DaemonCpu;
  readonly #kind: DaemonKind;
  readonly #time: SimTime;
  #daemon: DaemonCpu | undefined;
  #endedCpuMs = 0;
  #fileBytes = 0;
  oomKills = 0;
  /** Calls that are connected with the daemon. */
  calls = 0;
  /** Plugins that run now. Those of Multus are in the daemon's cgroup. */
  plugins = 0;
  peakBytes = 0;
  anonPeakBytes = 0;

  constructor(time: SimTime, { model, limits, kind = "levee" }: MachineNeeds) {
    this.#time = time;
    this.#kind = kind;
    this.model = model;
    this.limits = limits;
    this.cores = new SimCores(time, model.cores);
    this.#runtime = new DaemonCpu({ time, cores: this.cores, cpuMillis: undefined });
    const { cpuMillis } = limits;
    this.group = new CpuGroup(cpuMillis === undefined ? this.cores : new SimCores(time, cpuMillis / 1_000));
  }

  get daemon(): DaemonCpu | undefined {
    return this.#daemon;
  }

  get daemonCpuMs(): number {
    if (this.#kind === "multus") return this.group.usedMs;
    return this.#endedCpuMs + (this.#daemon?.usedMs ?? 0);
  }

  daemonStarts(): DaemonCpu {
    this.#daemon = new DaemonCpu({ time: this.#time, cores: this.cores, cpuMillis: this.limits.cpuMillis });
    return this.#daemon;
  }

  daemonEnds(): void {
    this.#endedCpuMs = this.daemonCpuMs;
    this.#daemon?.end();
    this.#daemon = undefined;
    this.calls = 0;
  }

  /** Memory that the kernel cannot take back. */
  get anonBytes(): number {
    if (this.#daemon === undefined) return 0;
    const { daemon, multus } = this.model;
    if (this.#kind === "levee") return daemon.baseMib * mibBytes + this.calls * daemon.callKib * 1_024;
    return (multus.baseMib + this.plugins * multus.pluginMib) * mibBytes + this.calls * multus.requestKib * 1_024;
  }

  /** All memory of the cgroup. The kernel fills what is free with pages of files, and keeps them after an end. */
  get usageBytes(): number {
    const room = this.limits.limitBytes - this.anonBytes;
    const readBytes = this.#daemon === undefined ? 0 : 3 * this.#textMib * mibBytes;
    this.#fileBytes = Math.max(0, Math.min(room, Math.max(this.#fileBytes, readBytes)));
    const usageBytes = this.anonBytes + this.#fileBytes;
    this.peakBytes = Math.max(this.peakBytes, usageBytes);
    this.anonPeakBytes = Math.max(this.anonPeakBytes, this.anonBytes);
    return usageBytes;
  }

  /** Anonymous memory, and the text without which nothing goes on. */
  get workingBytes(): number {
    return this.#daemon === undefined ? 0 : this.anonBytes + this.#textMib * mibBytes;
  }

  /** Whether the kernel finds no page to give. */
  get isOutOfMemory(): boolean {
    const leastMib = this.#kind === "levee" ? 0 : this.model.multus.textMibMin;
    return this.#daemon !== undefined && this.#roomMib < leastMib;
  }

  /** What the daemon reads of its cgroup and of the kernel's pressure files. */
  get load(): LoadFacts {
    const { limitBytes } = this.limits;
    return {
      ownMemory: { limitBytes, usageBytes: Math.min(limitBytes, this.workingBytes), oomKills: this.oomKills },
      pressure: { cpu: { some: this.cores.stall, full: 0 } },
      coresWaitedMs: this.cores.waitedMs,
    };
  }

  /** The daemon works on a message that it got, beside so many pods that are attached. */
  readMessage({ isGreeting, attached }: { isGreeting: boolean; attached: number }, done: () => void): void {
    const { messageCpuMs, collectCpuPerPodUs, collectPodsMin } = this.model.daemon;
    this.#daemon?.run(messageCpuMs * (isGreeting ? greetingShare : 1) * this.slowness, done);
    const kept = Math.max(0, attached - collectPodsMin);
    if (!isGreeting) this.#daemon?.aside(((kept * collectCpuPerPodUs) / 1_000) * this.slowness);
  }

  /** The daemon tells one of the calls that it is still there. */
  beatHeart(): void {
    this.#daemon?.run((this.model.daemon.heartbeatCpuUs / 1_000) * this.slowness, () => undefined);
  }

  /** A new interface announces itself to all that its network has. */
  flood(interfaces: number): void {
    const cpuMs = (interfaces * this.model.floodCpuPerPodUs) / 1_000;
    this.#time.after(floodAfterMs, () => void this.cores.run(cpuMs, () => undefined));
  }

  /** How much slower the cgroup is while program text is read from the disk again and again. */
  get slowness(): number {
    const missing = Math.max(0, Math.min(1, 1 - this.#roomMib / this.#textMib));
    if (this.#kind === "levee") return 1 + missing * (this.model.daemon.thrashFactor - 1);
    // Some of the text is seldom needed: what is pushed out first hardly shows.
    return 1 + missing * missing * missing * (this.model.multus.thrashFactor - 1);
  }

  /** One run of plugins, in the middle of which `act` is called. `already` is how many interfaces its network has. */
  runPlugin({ already, factor, share, waitMs = this.model.pluginWaitMs, act, rest, finish }: PluginCourse): Cancel {
    const isOurs = this.#kind === "levee";
    const { pluginCpuMs, pluginCpuPerPodUs } = isOurs ? this.model : this.model.multus;
    const cpuMs = factor * (pluginCpuMs * (isOurs ? 1 : this.slowness) + (already * pluginCpuPerPodUs) / 1_000);
    const cores = isOurs ? this.cores : this.group;
    this.plugins += 1;
    let isOver = false;
    const leave = (): void => {
      if (!isOver) this.plugins -= 1;
      isOver = true;
    };
    let stop = cores.run(cpuMs * share, () => {
      if (waitMs !== Number.POSITIVE_INFINITY) act();
      stop = cores.run(cpuMs * (1 - share), () => {
        rest();
        stop = this.#time.after(waitMs, () => {
          leave();
          finish();
        });
      });
    });
    return () => {
      leave();
      stop();
    };
  }

  /** The runtime starts a shim: its caller waits until that has begun its work. */
  startShim(done: () => void): void {
    const { spawnCpuMs, shimCpuMs } = this.#kind === "levee" ? this.model : this.model.multus;
    this.#runtime.run(spawnCpuMs, () => this.cores.run(shimCpuMs, done));
  }

  /** CPU time of Multus itself, on one of its threads. */
  thinkMs(cpuMs: number): number {
    return cpuMs * this.slowness;
  }

  get #textMib(): number {
    return this.#kind === "levee" ? this.model.daemon.textMib : this.model.multus.textMib;
  }

  get #roomMib(): number {
    return (this.limits.limitBytes - this.anonBytes) / mibBytes - kernelMib;
  }
}
