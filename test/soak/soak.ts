import { pause, until } from "../e2e/until.ts";
import { randomFrom } from "../crash/seed.ts";
import { deadly, Faults, survivable, type FaultName } from "./faults.ts";
import { compareInventories, inventoryOf, isSame, type Difference, type Inventory } from "./inventory.ts";
import { PodLives, type FailedAdd } from "./pod-lives.ts";
import { SoakNode } from "./soak-node.ts";

/** Time for the work that is left when the last pod has gone: leaks are tried again, network namespaces taken down. */
const settleMs = 120_000;
/** A garbage collector gives memory back some time after there is nothing to do any more. */
const idleMs = 8_000;
const idleSamples = 8;
/** The last pods of a round live for some seconds, and longer when a plugin hangs. */
const drainMs = 10_000;
/** Memory may be so much higher at the end. */
const growthMax = 0.05;
const minuteMs = 60_000;

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** The faults to cause; all of them when undefined. */
  readonly faults?: readonly FaultName[];
  readonly say: (line: string) => void;
}

/** A look at the daemon with no pod on the node. */
export interface IdleMoment {
  readonly atMs: number;
  readonly rssBytes: number;
  readonly anonBytes: number;
  readonly descriptors: number;
  readonly stateBytes: number;
}

export interface SoakOutcome {
  readonly minutes: number;
  readonly seed: number;
  readonly source: string;
  readonly pods: PodLives["counts"];
  readonly faults: Readonly<Record<string, number>>;
  /** ADDs that failed, by the fault that was going on and that they named. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly idle: readonly IdleMoment[];
  /** Undefined for a run too short to compare. */
  readonly memory: ReturnType<typeof earlyAndLate>;
  readonly differences: readonly Difference[];
  /** Empty when it held. */
  readonly problems: readonly string[];
}

/**
 * Pods come and go in rounds, with faults. Between two rounds the node stands still for a moment and is looked at. The
 * daemon is killed in the first round and in the last: what lies between is one life of it, whose memory is compared.
 */
export async function soak(options: SoakOptions): Promise<SoakOutcome> {
  const node = await SoakNode.start();
  try {
    return await new Soak(node, options).run();
  } finally {
    await node.stop();
  }
}

class Soak {
  readonly #node: SoakNode;
  readonly #options: SoakOptions;
  readonly #faults: Faults;
  readonly #lives: PodLives;
  readonly #idle: IdleMoment[] = [];
  readonly #startedMs = performance.now();

  constructor(node: SoakNode, options: SoakOptions) {
    this.#node = node;
    this.#options = options;
    this.#faults = new Faults({ node, random: randomFrom(options.seed) });
    const causeOf = (failed: FailedAdd): string | undefined => this.#faults.causeOf(failed);
    const during = ({ beganMs, endedMs }: FailedAdd): string => this.#faults.during(beganMs, endedMs);
    this.#lives = new PodLives({ node, random: randomFrom(options.seed + 1), causeOf, during, say: options.say });
  }

  async run(): Promise<SoakOutcome> {
    const { say, minutes, seed } = this.#options;
    say(`pods and networks come from ${this.#node.source.label}; seed ${seed}`);
    // The first pods make the bridges, and have the daemon open what it keeps open.
    await this.#lives.comeAndGo(3_000);
    const before = await this.#settled();
    const rounds = roundsOf(minutes);
    const wanted = (names: readonly FaultName[]): readonly FaultName[] =>
      names.filter((name) => this.#options.faults?.includes(name) !== false);
    for (const [index, roundMs] of rounds.entries()) {
      const isDeadly = index === 0 || index === rounds.length - 1;
      await this.#round(roundMs, wanted(isDeadly ? [...survivable, ...deadly] : survivable));
    }
    this.#node.clock.set(0);
    const after = await this.#settled(before);
    return this.#outcome(compareInventories(before, after));
  }

  async #round(roundMs: number, faults: readonly FaultName[]): Promise<void> {
    const endsMs = performance.now() + roundMs;
    const busyMs = roundMs - idleMs - drainMs;
    const telling = setInterval(() => this.#tell("running"), minuteMs);
    await Promise.all([this.#lives.comeAndGo(busyMs), this.#faults.trouble(this.#lives, faults, busyMs)]);
    clearInterval(telling);
    await pause(Math.max(0, endsMs - performance.now() - idleMs));
    this.#idle.push(await this.#idleMoment());
    this.#tell("idle");
  }

  /** The least of several looks: what is above it is waiting to be collected. */
  async #idleMoment(): Promise<IdleMoment> {
    const looks = [];
    for (let count = 0; count < idleSamples; count += 1) {
      await pause(idleMs / idleSamples);
      looks.push(this.#node.daemonFacts());
    }
    return {
      atMs: performance.now() - this.#startedMs,
      rssBytes: Math.min(...looks.map(({ rssBytes }) => rssBytes)),
      anonBytes: Math.min(...looks.map(({ anonBytes }) => anonBytes)),
      descriptors: Math.min(...looks.map(({ descriptors }) => descriptors.length)),
      stateBytes: await this.#node.disk.usedBytes(),
    };
  }

  /** The node when nothing is left to do on it, or, after some patience, as it is. */
  async #settled(wanted?: Inventory): Promise<Inventory> {
    const isCalm = (found: Inventory): boolean =>
      wanted === undefined
        ? ["attachments", "leaks", "network namespaces"].every((kind) => found[kind]?.length === 0)
        : compareInventories(wanted, found).every(isSame);
    let last: Inventory | undefined;
    const look = async (): Promise<Inventory | undefined> => {
      last = await inventoryOf(this.#node);
      return isCalm(last) ? last : undefined;
    };
    try {
      return await until("nothing is left to do", look, { timeoutMs: settleMs, everyMs: 500 });
    } catch (thrown) {
      if (last === undefined || wanted === undefined) throw thrown;
      return last;
    }
  }

  #outcome(differences: readonly Difference[]): SoakOutcome {
    const { minutes, seed } = this.#options;
    const memory = earlyAndLate(this.#idle, minutes);
    const problems = [
      ...(memory === undefined ? [] : growthOf(memory)),
      ...differences.filter((one) => !isSame(one)).map(tellDifference),
      ...this.#lives.troubles,
    ];
    return {
      minutes,
      seed,
      source: this.#node.source.label,
      pods: this.#lives.counts,
      faults: Object.fromEntries(this.#faults.counts),
      refusals: Object.fromEntries(this.#lives.refusals),
      idle: this.#idle,
      memory,
      differences,
      problems,
    };
  }

  #tell(state: string): void {
    const { rssBytes, anonBytes, descriptors } = this.#node.daemonFacts();
    const { arrived, attached, refused } = this.#lives.counts;
    const faults = [...this.#faults.counts.values()].reduce((sum, count) => sum + count, 0);
    const minute = ((performance.now() - this.#startedMs) / minuteMs).toFixed(1).padStart(5);
    const pods = `${arrived} pods, ${attached} attached, ${refused} refused`;
    const daemon = `daemon ${mib(rssBytes)} MiB RSS, ${mib(anonBytes)} anonymous, ${descriptors.length} descriptors`;
    this.#options.say(
      `${minute} min  ${state.padEnd(7)}  ${pods}; ${faults} faults; ${daemon}; ${this.#lives.troubles.length} troubles`,
    );
  }
}

/** Rounds of a minute, in a long run of two, of which there are at least three: kills, a life, kills. */
export function roundsOf(minutes: number): readonly number[] {
  const lengthMin = minutes > 20 ? 2 : 1;
  const count = Math.max(3, Math.round(minutes / lengthMin));
  return Array.from({ length: count }, () => (minutes * minuteMs) / count);
}

/**
 * What is usual early (in the first ten minutes, of a short run in its first half, and in three rounds at least) and in
 * the last quarter, in the life between the kills of the first and of the last round. Usual is the middle one: the
 * collector makes each moment a tenth more or less than the next. A life of one round has nothing to compare.
 */
export function earlyAndLate(
  idle: readonly IdleMoment[],
  minutes: number,
): { readonly early: IdleMoment; readonly late: IdleMoment } | undefined {
  const life = idle.slice(1, -1);
  if (life.length < 2) return undefined;
  const inTime = Math.floor((Math.min(10, minutes / 2) / minutes) * idle.length) - 1;
  const earlyRounds = Math.min(Math.floor(life.length / 2), Math.max(3, inTime));
  const lateRounds = Math.max(1, Math.floor(idle.length / 4));
  return { early: usual(life.slice(0, earlyRounds)), late: usual(life.slice(-lateRounds)) };
}

function usual(moments: readonly IdleMoment[]): IdleMoment {
  const last = moments.at(-1);
  if (last === undefined) throw new Error("There was no idle moment");
  const middle = (of: (moment: IdleMoment) => number): number =>
    moments.map(of).toSorted((left, right) => left - right)[Math.floor(moments.length / 2)] ?? 0;
  return { ...last, rssBytes: middle(({ rssBytes }) => rssBytes), anonBytes: middle(({ anonBytes }) => anonBytes) };
}

function growthOf({ early, late }: NonNullable<ReturnType<typeof earlyAndLate>>): readonly string[] {
  return [
    ...growth("RSS", early.rssBytes, late.rssBytes),
    ...growth("anonymous memory", early.anonBytes, late.anonBytes),
  ];
}

function growth(what: string, early: number, late: number): readonly string[] {
  if (late <= early * (1 + growthMax)) return [];
  const percent = ((late / early - 1) * 100).toFixed(1);
  return [`the daemon's ${what} grew by ${percent} %, from ${mib(early)} to ${mib(late)} MiB`];
}

function tellDifference({ kind, before, after, more, less }: Difference): string {
  const some = (list: readonly string[]): string => list.slice(0, 5).join(", ");
  const parts = [more.length > 0 ? `new: ${some(more)}` : "", less.length > 0 ? `gone: ${some(less)}` : ""];
  return `${kind}: ${before} before, ${after} after; ${parts.filter(Boolean).join("; ")}`;
}

export function mib(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
