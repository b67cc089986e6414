import { terminalPhases, type Decision } from "../decision/decision.ts";
import { timeMs } from "../json-values.ts";
import type { World } from "../facts/world.ts";
import { shapeText } from "./shape-text.ts";
import { decisionPhase } from "./standing.ts";

/** People cannot answer more open proposals, however many backlogs tenants cause. */
const openMax = 50;
/** Enough for 16,000 pods if all are recoveries. */
const openPerNamespaceMax = 8;
/** Stops and recoveries together; the first two come at once. Above it, pods change faster than people answer. */
const perNamespaceAndHourMax = 8;
const hourMs = 3_600_000;
/** At 280 KB each, 56 MB in etcd. The guard may not delete Decisions; a person does. */
export const endedDecisionsMax = 200;
/** The minimum time between two proposals that exceed the limits. */
const largestAgainMs = 900_000;

/** What a cause is about. */
interface RoomSubject {
  readonly namespace: string;
  readonly shape: string;
}

/**
 * Limits the number of proposals. Tenants can create backlogs at will, so every limit has one exception: the largest of
 * a namespace, and of the cluster, still gets its proposals, and small ones cannot hide it.
 */
export class ProposalRoom {
  readonly #world: World;
  readonly #largestOfAll: RoomSubject | undefined;
  readonly #largestOf: ReadonlyMap<string, RoomSubject>;
  readonly #isEndedFull: boolean;
  #open: number;

  /** `causes` has the largest first. */
  constructor(causes: readonly RoomSubject[], world: World) {
    this.#world = world;
    this.#largestOfAll = causes[0];
    this.#largestOf = new Map(causes.toReversed().map((one) => [one.namespace, one]));
    this.#open = world.decisions.filter(isOpen).length;
    this.#isEndedFull = world.decisions.length - this.#open >= endedDecisionsMax;
  }

  /** How many Decisions about this cause may be proposed now. */
  roomFor(cause: RoomSubject): number {
    const here = this.#world.decisions.filter(({ spec }) => spec.subject.namespace === cause.namespace);
    const free = Math.min(
      this.#isEndedFull ? 0 : openMax - this.#open,
      openPerNamespaceMax - here.filter(isOpen).length,
      perNamespaceAndHourMax - here.filter((decision) => this.#isYounger(decision, hourMs)).length,
    );
    if (free > 0) return free;
    return this.#isLargest(cause) && !this.#isAsked(cause, here) ? 2 : 0;
  }

  take(proposals: number): void {
    this.#open += proposals;
  }

  /** In a full cluster only the largest of all counts. */
  #isLargest(cause: RoomSubject): boolean {
    const isFull = this.#isEndedFull || this.#open >= openMax;
    return cause === (isFull ? this.#largestOfAll : this.#largestOf.get(cause.namespace));
  }

  #isAsked({ shape }: RoomSubject, here: readonly Decision[]): boolean {
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
