import { pause } from "../e2e/until.ts";
import { descendantsOf } from "./process-facts.ts";
import type { FailedAdd, PodLives } from "./pod-lives.ts";
import type { SoakNode } from "./soak-node.ts";

/** Less than an hour: the API server's certificate is valid from an hour before it was made. */
const shiftSMax = 1_800;

export type FaultName =
  | "daemon killed"
  | "hand killed"
  | "shim killed"
  | "delegate killed"
  | "API server restarted"
  | "plugin fails"
  | "plugin hangs"
  | "disk full"
  | "clock stepped"
  | "daemon stopped"
  | "hand stopped"
  | "shim stopped"
  | "namespace recycled"
  | "last line lost";

/**
 * With which words an ADD may fail that was under way while a fault lasted; none may fail with others, and none that
 * began when it was over. A daemon, a hand or a clock must cost no pod anything.
 */
const wordsOf: Partial<Record<FaultName, RegExp>> = {
  "API server restarted": /API server/u,
  "plugin fails": /the bridge is out of order|Cannot attach now/u,
  "plugin hangs": /ran longer than \d+ ms|Cannot attach now/u,
  // Of a failing network only a probe runs, so the probe is killed; the others wait for the next one.
  "delegate killed": /Cannot attach now: .*was ended by signal 9/u,
  "disk full": /ENOSPC/u,
  // The lost line was the beginning of this ADD.
  "last line lost": /the journal has no record of it/u,
};
/** Faults that a daemon survives; the others end it. */
export const survivable: readonly FaultName[] = [
  "hand killed",
  "shim killed",
  "shim killed",
  "delegate killed",
  "delegate killed",
  "API server restarted",
  "plugin fails",
  "plugin hangs",
  "disk full",
  "clock stepped",
  "daemon stopped",
  "hand stopped",
  "shim stopped",
  "namespace recycled",
];

/** Faults that end the daemon. */
export const deadly: readonly FaultName[] = [
  "daemon killed",
  "daemon killed",
  "daemon killed",
  "daemon killed",
  "last line lost",
];

export const allFaults: readonly FaultName[] = [...new Set([...survivable, ...deadly])];

interface PastFault {
  readonly name: FaultName;
  readonly beganMs: number;
  endedMs: number;
}

/** The fault that an ADD failed of, if it was under way meanwhile and says so. */
export function causeIn(past: readonly Readonly<PastFault>[], failed: FailedAdd): FaultName | undefined {
  return past.find(
    ({ name, beganMs, endedMs }) =>
      failed.beganMs <= endedMs && failed.endedMs >= beganMs && wordsOf[name]?.test(failed.said) === true,
  )?.name;
}

export interface FaultOptions {
  readonly node: SoakNode;
  readonly random: () => number;
}

/** Does to the node what happens to nodes, one thing after another, in an order that its random numbers give. */
export class Faults {
  readonly counts = new Map<FaultName, number>();
  readonly #node: SoakNode;
  readonly #random: () => number;
  readonly #past: PastFault[] = [];

  constructor({ node, random }: FaultOptions) {
    this.#node = node;
    this.#random = random;
  }

  causeOf(failed: FailedAdd): FaultName | undefined {
    return causeIn(this.#past, failed);
  }

  /** The faults that were under way then, for a person who looks for a cause. */
  during(beganMs: number, endedMs: number): string {
    const past = this.#past.filter((fault) => beganMs <= fault.endedMs && endedMs >= fault.beganMs);
    const at = (ms: number): string => ((ms - beganMs) / 1_000).toFixed(1);
    const told = past.map((fault) => `${fault.name} from ${at(fault.beganMs)} s to ${at(fault.endedMs)} s`);
    return told.join(", ") || "none";
  }

  /** One fault after another for so long; the last one is over when this resolves. */
  async trouble(lives: PodLives, names: readonly FaultName[], forMs: number): Promise<void> {
    const endsMs = performance.now() + forMs;
    for (let bag: FaultName[] = []; ;) {
      await pause(2_000 + this.#random() * 4_000);
      if (performance.now() >= endsMs) return;
      if (bag.length === 0) bag = [...names];
      const [name] = bag.splice(Math.floor(this.#random() * bag.length), 1);
      if (name !== undefined) await this.#do(name, lives);
    }
  }

  async #do(name: FaultName, lives: PodLives): Promise<void> {
    const fault: PastFault = { name, beganMs: performance.now(), endedMs: Infinity };
    this.#past.push(fault);
    if (await this.#carryOut(name, lives)) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    fault.endedMs = performance.now();
  }

  /** Whether there was anything to do it to. */
  async #carryOut(name: FaultName, lives: PodLives): Promise<boolean> {
    const { lab } = this.#node;
    switch (name) {
      case "daemon killed":
        await lab.killDaemon();
        await pause(this.#random() * 1_000);
        await this.#node.startDaemon();
        return true;
      case "hand killed":
        await lab.killHand();
        await pause(this.#random() * 1_000);
        await lab.startHand();
        return true;
      case "shim killed":
        return this.#killShim(lives);
      case "delegate killed":
        return this.#killDelegate(lives);
      case "API server restarted":
        return this.#restartApiServer();
      case "plugin fails":
        return this.#spoil("fail", 8_000);
      case "plugin hangs":
        return this.#spoil("hang", 5_000);
      case "disk full":
        await this.#node.disk.fill();
        await pause(10_000);
        await this.#node.disk.makeRoom();
        return true;
      case "clock stepped":
        this.#node.clock.set(Math.round((this.#random() * 2 - 1) * shiftSMax));
        return true;
      default:
        return this.#carryOutRare(name, lives);
    }
  }

  /** What was found from outside, and no test had thought of. */
  async #carryOutRare(name: FaultName, lives: PodLives): Promise<boolean> {
    switch (name) {
      case "daemon stopped":
        return this.#stop(this.#node.daemonPid);
      case "hand stopped":
        return this.#stop(this.#node.lab.handPid);
      case "shim stopped": {
        const found = await this.#search(() => [...lives.running][0]);
        return this.#stop(found?.process.pid);
      }
      case "namespace recycled":
        lives.recycleNext();
        return true;
      case "last line lost":
        await this.#node.lab.killDaemon();
        await this.#node.loseLastLine();
        await this.#node.startDaemon();
        return true;
      default:
        throw new Error(`There is no such fault: ${name}`);
    }
  }

  /** Stops a process for a while, as a debugger or a frozen cgroup does. */
  async #stop(pid: number | undefined): Promise<boolean> {
    if (pid === undefined || !signal(pid, "SIGSTOP")) return false;
    await pause(1_000 + this.#random() * 3_000);
    signal(pid, "SIGCONT");
    return true;
  }

  async #killShim(lives: PodLives): Promise<boolean> {
    const found = await this.#search(() => [...lives.running][0]);
    if (found === undefined) return false;
    found.wasHurt = true;
    return found.process.kill("SIGKILL");
  }

  /**
   * Kills a bridge plugin in the middle of its work. Not the address plugin below it: one that is killed between making
   * a file and writing into it leaves an address that nobody can give back, whoever called it.
   */
  async #killDelegate(lives: PodLives): Promise<boolean> {
    const found = await this.#search(() => {
      for (const call of lives.running) {
        const delegate = descendantsOf(call.process.pid ?? 0).find(({ command }) => command.endsWith("/bridge"));
        if (delegate !== undefined) return { call, pid: delegate.pid };
      }
      return undefined;
    });
    if (found === undefined) return false;
    found.call.wasHurt = true;
    return signal(found.pid, "SIGKILL");
  }

  async #restartApiServer(): Promise<boolean> {
    const { cluster } = this.#node;
    if (cluster === undefined) return false;
    await cluster.restartServer(this.#random() < 0.5 ? "SIGKILL" : "SIGTERM", this.#random() * 4_000);
    return true;
  }

  async #spoil(how: "fail" | "hang", forMs: number): Promise<boolean> {
    await this.#node.spoil(how);
    await pause(forMs);
    await this.#node.spoil(undefined);
    return true;
  }

  /** Calls are short: looks until one is caught in the act. */
  async #search<T>(look: () => T | undefined): Promise<T | undefined> {
    for (let count = 0; count < 100; count += 1) {
      const found = look();
      if (found !== undefined) return found;
      await pause(10);
    }
    return undefined;
  }
}

/** False for a process that has just ended. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
