import { terminalPhases, type Decision } from "../decision/decision.ts";
import type { Avalanche } from "../detect/avalanche.ts";
import { timeMs } from "../facts/json-values.ts";
import type { World } from "../facts/world.ts";
import { shapeText } from "./shape-text.ts";
import { decisionPhase } from "./standing.ts";

/** More open questions than this answer nobody, whatever tenants do to be asked about. */
const openMax = 50;
/** 16,000 pods, if all of them are recoveries. */
const openPerNamespaceMax = 8;
/** Stops and recoveries together; the first two come at once. Above it pods come and go faster than people answer. */
const perNamespaceAndHourMax = 8;
const hourMs = 3_600_000;
/** At 280 KB each they are 56 MB of etcd. The guard cannot delete them; a person does. */
export const endedDecisionsMax = 200;
/** What comes through although there is no room comes this often at most. */
const largestAgainMs = 900_000;

/**
 * How many questions may be asked. Tenants can make sets of pods as they like, so every limit has one exception: the
 * largest set of a namespace, and of all, is asked about all the same, and small ones cannot hide it.
 */
export class ProposalRoom {
  readonly #world: World;
  readonly #largestOfAll: Avalanche | undefined;
  readonly #largestOf: ReadonlyMap<string, Avalanche>;
  readonly #isEndedFull: boolean;
  #open: number;

  /** Of avalanches with the largest first. */
  constructor(avalanches: readonly Avalanche[], world: World) {
    this.#world = world;
    this.#largestOfAll = avalanches[0];
    this.#largestOf = new Map(avalanches.toReversed().map((avalanche) => [avalanche.namespace, avalanche]));
    this.#open = world.decisions.filter(isOpen).length;
    this.#isEndedFull = world.decisions.length - this.#open >= endedDecisionsMax;
  }

  /** How many Decisions may be proposed about it now. */
  roomFor(avalanche: Avalanche): number {
    const here = this.#world.decisions.filter(({ spec }) => spec.subject.namespace === avalanche.namespace);
    const free = Math.min(
      this.#isEndedFull ? 0 : openMax - this.#open,
      openPerNamespaceMax - here.filter(isOpen).length,
      perNamespaceAndHourMax - here.filter((decision) => this.#isYounger(decision, hourMs)).length,
    );
    if (free > 0) return free;
    return this.#isLargest(avalanche) && !this.#isAsked(avalanche, here) ? 2 : 0;
  }

  take(proposals: number): void {
    this.#open += proposals;
  }

  /** Where the whole cluster has no room only the largest of all counts. */
  #isLargest(avalanche: Avalanche): boolean {
    const isFull = this.#isEndedFull || this.#open >= openMax;
    return avalanche === (isFull ? this.#largestOfAll : this.#largestOf.get(avalanche.namespace));
  }

  #isAsked({ shape }: Avalanche, here: readonly Decision[]): boolean {
    return here.some(
      (decision) =>
        decision.spec.subject.shape === shapeText(shape) &&
        (isOpen(decision) || this.#isYounger(decision, largestAgainMs)),
    );
  }

  #isYounger({ metadata }: Decision, ageMs: number): boolean {
    return this.#world.nowMs - timeMs(metadata.creationTimestamp) < ageMs;
  }
}

function isOpen(decision: Decision): boolean {
  return !terminalPhases.has(decisionPhase(decision));
}
