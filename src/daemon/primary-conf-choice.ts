import type { Clock } from "../base/clock.ts";
import { warning, type ConfDirProblem } from "./conf-dir-facts.ts";
import { findPrimary, type PrimaryConf, type PrimaryFound, type PrimaryPlace } from "./primary-conf.ts";

/** Long enough for a network's agent to be replaced; kubelet tries again meanwhile. */
const leftoverWaitMs = 60_000;

export interface Chosen {
  /** The last good one, whatever there is now. */
  readonly primary: PrimaryConf | undefined;
  readonly problem: ConfDirProblem | undefined;
}

/** Which conf is the primary network's, over time: one that is being written or was removed does not change it. */
export class PrimaryChoice {
  readonly #place: PrimaryPlace;
  readonly #clock: Clock;
  #good: PrimaryConf | undefined;
  /** Files that were there together with the good one. */
  #neighbours: ReadonlySet<string> = new Set();
  #goneSinceMs: number | undefined;

  constructor(place: PrimaryPlace, clock: Clock) {
    this.#place = place;
    this.#clock = clock;
  }

  async look(): Promise<Chosen> {
    const finding = await findPrimary(this.#place);
    if (finding.primary === undefined) {
      const kind = finding.lack === "absent" ? "missing-primary" : "primary-unusable";
      return { primary: this.#good, problem: warning(kind, this.#lackText(finding.why), finding.remedy) };
    }
    if (this.#isLeftover(finding)) return { primary: this.#good, problem: this.#leftoverProblem(finding.primary) };
    this.#good = finding.primary;
    this.#neighbours = new Set(finding.names);
    this.#goneSinceMs = undefined;
    return { primary: finding.primary, problem: undefined };
  }

  #lackText(why: string): string {
    return this.#good === undefined
      ? `There is no primary network to attach pods to, and no conf is written until there is one: ${why}`
      : `The primary network's conf cannot be read now, and the last good one (${this.#good.path}) stays: ${why}`;
  }

  /**
   * Whether a conf that was only ever second would take the place of one that has just gone. An agent that is replaced
   * removes its conf and writes it again; pods that start in between must not land in another network.
   */
  #isLeftover({ primary, names }: PrimaryFound): boolean {
    const good = this.#good;
    const isGone = good !== undefined && primary.path !== good.path && !names.includes(good.fileName);
    if (!isGone || !this.#neighbours.has(primary.fileName)) return false;
    this.#goneSinceMs ??= this.#clock.monotonicMs();
    return this.#clock.monotonicMs() - this.#goneSinceMs < leftoverWaitMs;
  }

  #leftoverProblem(leftover: PrimaryConf): ConfDirProblem {
    return warning(
      "missing-primary",
      `The primary network's conf ${this.#good?.path ?? ""} is gone; ${leftover.path}, which was there before, takes its place unless it returns within ${leftoverWaitMs / 1_000} s`,
      "",
    );
  }
}
