import type { Cancel } from "../../base/clock.ts";
import type { SimEvent } from "../node/sim-event.ts";
import type { NodeInWorld, SimWorld } from "../story/sim-world.ts";
import type { SimApiLoad, SimMoment, SimNodeEnd, SimPodRecord } from "./sim-storm-end.ts";
import type { SimStormPlan } from "./sim-storm-plan.ts";

interface NodeCounts {
  /** Of the daemon, before the storm. */
  cpuMs: number;
  firstKillMs: number | undefined;
  starts: number;
}

/** Follows a storm: what each pod and each daemon does, and what it costs. */
export class StormWatch {
  readonly #plan: SimStormPlan;
  readonly #world: SimWorld;
  readonly #beganMs: number;
  readonly #records = new Map<string, SimPodRecord>();
  /** Pods that are not yet where they are to be. */
  #unfinished = 0;
  readonly #moments: SimMoment[] = [];
  readonly #counts = new Map<string, NodeCounts>();
  readonly #requestsBefore = new Map<string, number>();
  #perSecondMax = 0;
  #stop: Cancel = () => undefined;
  #look: () => void = () => undefined;

  constructor(plan: SimStormPlan, world: SimWorld, beganMs: number) {
    this.#plan = plan;
    this.#world = world;
    this.#beganMs = beganMs;
    for (const pod of plan.pods)
      this.#records.set(`${pod.namespace}/${pod.name}`, {
        pod,
        arrivedMs: pod.atMs,
        wantedMs: pod.atMs,
        attachedMs: undefined,
        goneMs: undefined,
        refusals: 0,
        isAttached: false,
      });
    this.#unfinished = [...this.#records.values()].filter((record) => !isFinished(record)).length;
    for (const name of plan.nodes) this.#counts.set(name, { cpuMs: 0, firstKillMs: undefined, starts: 0 });
  }

  /** Nothing more will change by itself: every pod is where it is to be, no fault is to come, and it need not go on. */
  get isDone(): boolean {
    const nowMs = this.#nowMs;
    if (nowMs < (this.#plan.lastsMs ?? 0)) return false;
    if (this.#plan.faults.some(({ fault }) => fault.atMs >= nowMs && fault.kind !== "kill-daemon")) return false;
    return this.#unfinished === 0;
  }

  see(event: SimEvent): void {
    if (event.kind === "pod") this.#seePod(event);
    if (event.kind !== "daemon") return;
    const counts = this.#counts.get(event.node);
    if (counts === undefined) return;
    if (event.what === "is out of memory") counts.firstKillMs ??= this.#nowMs;
    if (event.what === "starts") counts.starts += 1;
  }

  /** The power of a node was cut: its pods come anew when it is back. */
  lost(name: string): void {
    for (const record of this.#records.values()) {
      if (record.pod.node !== name || record.goneMs !== undefined || record.pod.atMs > this.#nowMs) continue;
      const wasFinished = isFinished(record);
      // One that was waiting goes on waiting.
      if (record.attachedMs !== undefined) record.wantedMs = this.#nowMs;
      record.isAttached = false;
      record.attachedMs = undefined;
      this.#unfinished += Number(wasFinished) - Number(isFinished(record));
    }
  }

  /** Looks every so often, and tells of it. */
  begin(everyMs: number, told?: (moment: SimMoment) => void): void {
    for (const [what, count] of this.#world.api.requests) this.#requestsBefore.set(what, count);
    for (const [name, counts] of this.#counts) {
      counts.starts = 0;
      counts.cpuMs = this.#world.nodes.get(name)?.node.machine?.daemonCpuMs ?? 0;
    }
    this.#look = () => {
      const moment = this.#moment();
      this.#moments.push(moment);
      told?.(moment);
    };
    const again = (): void => {
      this.#look();
      this.#stop = this.#world.time.after(everyMs, again);
    };
    again();
  }

  end(): void {
    this.#stop();
    this.#look();
  }

  /** As of now: what comes later changes none of it. */
  facts(isInterrupted: boolean) {
    const nodes = this.#plan.nodes.flatMap((name) => {
      const found = this.#world.nodes.get(name);
      return found === undefined ? [] : [this.#nodeEnd(name, found)];
    });
    const records = Array.from(this.#records.values(), (record) => ({ ...record }));
    return { records, moments: this.#moments, nodes, api: this.#apiLoad(), isInterrupted };
  }

  get #nowMs(): number {
    return this.#world.time.nowMs - this.#beganMs;
  }

  #seePod({ pod, what }: Extract<SimEvent, { kind: "pod" }>): void {
    const record = this.#records.get(pod);
    if (record === undefined) return;
    const wasFinished = isFinished(record);
    if (what === "failed") record.refusals += 1;
    if (what === "running") {
      record.isAttached = true;
      record.attachedMs ??= this.#nowMs;
    }
    if (what === "gone") record.goneMs = this.#nowMs;
    if (what === "gone" || what === "deleting") record.isAttached = false;
    this.#unfinished += Number(wasFinished) - Number(isFinished(record));
  }

  #moment(): SimMoment {
    const counts = { attached: 0, waiting: 0, criticalAttached: 0, criticalWaiting: 0 };
    for (const { pod, isAttached, goneMs } of this.#records.values()) {
      if (pod.atMs > this.#nowMs || goneMs !== undefined) continue;
      if (pod.isCritical) counts[isAttached ? "criticalAttached" : "criticalWaiting"] += 1;
      else counts[isAttached ? "attached" : "waiting"] += 1;
    }
    const nodes = [...this.#world.nodes.values()].map(({ node: { machine } }) => ({
      usageBytes: machine?.usageBytes ?? 0,
      workingBytes: machine?.workingBytes ?? 0,
      anonBytes: machine?.anonBytes ?? 0,
      isUp: machine?.daemon !== undefined,
    }));
    const requests = this.#requests();
    const secondAgo = this.#moments.findLast(({ atMs }) => atMs <= this.#nowMs - 1_000);
    if (secondAgo !== undefined) {
      const seconds = (this.#nowMs - secondAgo.atMs) / 1_000;
      this.#perSecondMax = Math.max(this.#perSecondMax, Math.round((requests - secondAgo.requests) / seconds));
    }
    return { atMs: this.#nowMs, ...counts, requests, nodes };
  }

  #requests(): number {
    return [...this.#world.api.requests.keys()].reduce((sum, what) => sum + this.#asked(what), 0);
  }

  #asked(what: string): number {
    return (this.#world.api.requests.get(what) ?? 0) - (this.#requestsBefore.get(what) ?? 0);
  }

  #apiLoad(): SimApiLoad {
    return {
      // Where the server can, a reflector begins with a list that comes as a watch.
      lists: this.#asked("list") + this.#asked("streamed list"),
      watches: this.#asked("watch"),
      gets: this.#asked("get"),
      writes: this.#asked("patch") + this.#asked("put") + this.#asked("post"),
      perSecondMax: this.#perSecondMax,
    };
  }

  #nodeEnd(name: string, { node }: NodeInWorld): SimNodeEnd {
    const mine = [...this.#records.values()].filter(({ pod }) => pod.node === name);
    const { cpuMs, firstKillMs, starts } = this.#counts.get(name) ?? noCounts;
    const { oomKills, peakBytes, anonPeakBytes, daemonCpuMs } = node.machine ?? noMachine;
    return {
      name,
      pods: mine.length,
      attached: mine.filter(({ attachedMs }) => attachedMs !== undefined).length,
      tookMs: lastOf(mine),
      oomKills,
      firstKillMs,
      restarts: starts,
      refusals: mine.reduce((sum, { refusals }) => sum + refusals, 0),
      peakBytes,
      anonPeakBytes,
      daemonCpuMs: daemonCpuMs - cpuMs,
      leaks: [...node.kernel.leases.values()].reduce((sum, { size }) => sum + size, 0),
    };
  }
}

const noCounts: NodeCounts = { cpuMs: 0, firstKillMs: undefined, starts: 0 };
const noMachine = { oomKills: 0, peakBytes: 0, anonPeakBytes: 0, daemonCpuMs: 0 };

/**
 * When the last pod was attached; undefined when one was not that has to be. Critical pods come later than the storm, so
 * they do not count, unless there are no others.
 */
function lastOf(records: readonly SimPodRecord[]): number | undefined {
  const ordinary = records.filter(({ pod }) => !pod.isCritical);
  const counted = ordinary.length === 0 ? records : ordinary;
  if (counted.some(({ pod, attachedMs }) => pod.mustRun && attachedMs === undefined)) return undefined;
  return counted.reduce((lastMs, { attachedMs = 0 }) => Math.max(lastMs, attachedMs), 0);
}

function isFinished({ pod, isAttached, goneMs }: SimPodRecord): boolean {
  return pod.deleteAtMs === undefined ? isAttached || !pod.mustRun : goneMs !== undefined;
}
