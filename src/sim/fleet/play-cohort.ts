import { useDisk } from "../../base/disk/disk.ts";
import type { SimEvent } from "../node/sim-event.ts";
import type { SimPod } from "../node/sim-pod.ts";
import { EventLog } from "../story/event-log.ts";
import { Invariants } from "../story/invariants.ts";
import { SimWorld, type NodeInWorld } from "../story/sim-world.ts";
import { defaultNetwork } from "../story/story.ts";
import {
  deedsOf,
  firstPods,
  fleetNetworks,
  hangingNetwork,
  hourMs,
  spellsOf,
  type FleetDeed,
  type FleetPlan,
  type FleetSpell,
} from "./fleet-plan.ts";
import { addAt, countWait, emptyTally, keepMost, type FleetTally } from "./fleet-tally.ts";

const nodeName = "node-1";
const minuteMs = 60_000;
/** In it a cohort's first pods come, and settle. */
const buildUpMs = 900_000;
const bindWithinMs = 600_000;
/** After the last node, so that what is under way ends. */
const settleMs = 900_000;
const linesMax = 50;
/** The event loop turns so seldom, as turns at each step take a tenth of all time. Stories of one node watch each step. */
const stepsPerTurn = 16;

/** How many nodes a cohort has. */
export function nodesOf(plan: FleetPlan, cohort: number): number {
  const most = cohortNodesOf(plan);
  return Math.min(most, plan.nodes - cohort * most);
}

export function cohortsOf({ nodes, cohortNodesMax }: FleetPlan): number {
  return Math.ceil(nodes / cohortNodesMax);
}

/** All cohorts are of one size, apart from the last one, so that no process waits long for another. */
export function cohortNodesOf(plan: FleetPlan): number {
  return Math.ceil(plan.nodes / cohortsOf(plan));
}

/** Plays the nodes of one cohort, one after another, on one simulated machine. The plan and the number decide everything. */
export async function playCohort(plan: FleetPlan, number: number, onNode?: () => void): Promise<FleetTally> {
  const cohort = new FleetCohort(plan, number);
  using _disk = { [Symbol.dispose]: useDisk(cohort.world.disk) };
  return await cohort.play(onNode);
}

class FleetCohort {
  readonly world: SimWorld;
  readonly #plan: FleetPlan;
  readonly #number: number;
  readonly #tally = emptyTally();
  readonly #log = new EventLog(linesMax);
  readonly #invariants: Invariants;
  readonly #machine: NodeInWorld;
  /** Pods that are bound and not deleted, by key. */
  readonly #pods = new Map<string, SimPod>();
  /** Since when each pod waits for its networks. */
  readonly #waitsSinceMs = new Map<string, number>();
  /** When the present node's time began; undefined before the first and after the last. */
  #beganMs: number | undefined;

  constructor(plan: FleetPlan, number: number) {
    this.#plan = plan;
    this.#number = number;
    this.world = new SimWorld({
      seed: plan.seed + 7_919 * number,
      nodes: [nodeName],
      networks: fleetNetworks,
      defaultNetwork,
      settings: {},
      stepsPerTurn,
      onEvent: (nowMs, event) => this.#see(nowMs, event),
    });
    this.#invariants = new Invariants(this.world.nodes);
    const machine = this.world.nodes.get(nodeName);
    if (machine === undefined) throw new Error(`The simulated world has no ${nodeName}`);
    this.#machine = machine;
  }

  async play(onNode?: () => void): Promise<FleetTally> {
    const { world } = this;
    const spells = spellsOf(this.#plan);
    // Faults are part of the plan, so that no pod must be attached promptly.
    this.#invariants.see(0, { kind: "fault", what: "a fleet" });
    world.start();
    const first = firstPods(this.#plan, this.#number);
    first.forEach((pod, at) => world.time.after((at / first.length) * bindWithinMs, () => this.#bind(pod)));
    await this.#pass(buildUpMs);
    for (let at = 0; at < nodesOf(this.#plan, this.#number); at += 1) {
      await this.#playNode(at, spells);
      onNode?.();
    }
    this.#beganMs = undefined;
    await this.#pass(settleMs);
    this.#invariants.lookAtEnd();
    const broken = this.#invariants.broken.map(({ rule, text }) => `cohort ${this.#number}: ${rule}: ${text}`);
    this.#tally.broken.push(...broken);
    this.#tally.hashes[this.#number] = this.#log.hash;
    this.#tally.steps = world.time.steps;
    return this.#tally;
  }

  async #playNode(at: number, spells: readonly FleetSpell[]): Promise<void> {
    const { time } = this.world;
    this.#beganMs = time.nowMs;
    const running = [...this.#pods.values()];
    for (const deed of deedsOf(this.#plan, this.#number * cohortNodesOf(this.#plan) + at, running))
      time.after(deed.atMs, () => this.#do(deed));
    for (const spell of spells) time.after(spell.atMs, () => this.#begin(spell));
    for (let minute = 0; minute < (this.#plan.hours * hourMs) / minuteMs; minute += 1) {
      const before = this.#otherRequests();
      await this.#pass(minuteMs);
      addAt(this.#tally.otherRequests, minute, this.#otherRequests() - before);
    }
    this.#tally.nodes += 1;
    this.#tally.simulatedMs += this.#plan.hours * hourMs;
  }

  async #pass(ms: number): Promise<void> {
    const { time } = this.world;
    await time.run(time.nowMs + ms, () => false);
  }

  #do(deed: FleetDeed): void {
    switch (deed.kind) {
      case "bind":
        return this.#bind(deed.pod);
      case "remove":
        this.#pods.delete(keyOf(deed.pod));
        return this.#machine.runtime.remove(keyOf(deed.pod));
      case "kill-daemon":
        return this.#machine.daemon.kill();
      case "reboot":
        addAt(this.#tally.reboots, this.#minute() ?? 0);
        for (const key of this.#pods.keys()) this.#waitsSinceMs.set(key, this.world.time.nowMs);
        return this.world.cutPower(nodeName);
    }
  }

  #bind(pod: SimPod): void {
    this.#pods.set(keyOf(pod), pod);
    this.#machine.runtime.bind(pod);
  }

  #begin({ kind, forMs }: FleetSpell): void {
    const { api, time } = this.world;
    const network = api.get("network-attachment-definitions", `default/${hangingNetwork}`);
    if (kind === "network-changes") {
      if (network !== undefined) api.put("network-attachment-definitions", { ...network, changedAtMs: time.nowMs });
    } else if (kind === "network-hangs") {
      this.#machine.node.plugins.temperOf(hangingNetwork).hangs = true;
      time.after(forMs, () => this.#machine.node.plugins.calmAll());
    } else {
      api.trouble.isAway = true;
      api.wake();
      time.after(forMs, () => {
        api.trouble.isAway = false;
        // A server that has just started knows nothing of the past.
        api.compact();
        api.wake();
      });
    }
  }

  #otherRequests(): number {
    const { requests } = this.world.api;
    return ["get", "patch", "post"].reduce((sum, what) => sum + (requests.get(what) ?? 0), 0);
  }

  #see(nowMs: number, event: SimEvent): void {
    this.#log.add(nowMs, event);
    this.#invariants.see(nowMs, event);
    const minute = this.#minute();
    if (event.kind === "pod") this.#seePod(event, minute);
    if (minute === undefined) return;
    if (event.kind === "api") {
      const second = Math.floor((nowMs - (this.#beganMs ?? 0)) / 1_000);
      addAt(event.what === "watch" ? this.#tally.watches : this.#tally.lists, second);
    }
    if (event.kind === "daemon" && event.what === "is killed") addAt(this.#tally.kills, minute);
  }

  #seePod({ pod, what }: Extract<SimEvent, { kind: "pod" }>, minute: number | undefined): void {
    const { nowMs } = this.world.time;
    if (what === "bound") this.#waitsSinceMs.set(pod, nowMs);
    const sinceMs = this.#waitsSinceMs.get(pod);
    if (what === "running" || what === "gone") this.#waitsSinceMs.delete(pod);
    if (minute === undefined) {
      this.#tally.builtUp += Number(what === "running");
      return;
    }
    if (what === "failed") addAt(this.#tally.failedTries, minute);
    if (what === "gone") addAt(this.#tally.deleted, minute);
    if (what === "running" && sinceMs !== undefined) this.#attached(pod, minute, nowMs - sinceMs);
  }

  #attached(pod: string, minute: number, waitedMs: number): void {
    addAt(this.#tally.attached, minute);
    const isCritical = pod.startsWith("kube-system/");
    countWait(isCritical ? this.#tally.criticalWaits : this.#tally.waits, waitedMs);
    if (isCritical) keepMost(this.#tally.criticalWaitMsMax, minute, waitedMs);
  }

  /** Of the present node's time. */
  #minute(): number | undefined {
    return this.#beganMs === undefined ? undefined : Math.floor((this.world.time.nowMs - this.#beganMs) / minuteMs);
  }
}

function keyOf({ namespace, name }: SimPod): string {
  return `${namespace}/${name}`;
}
