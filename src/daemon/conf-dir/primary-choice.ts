import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { warning, type ConfDirProblem } from "./conf-dir-facts.ts";
import type { LastPrimary } from "./last-primary.ts";
import { findPrimary, type PrimaryConf, type PrimaryFound, type PrimaryPlace } from "./primary-conf.ts";

/** Long enough to replace a network's agent; kubelet retries meanwhile. */
const leftoverWaitMs = 60_000;

interface Chosen {
  /** The last good one, even if it is gone now. */
  readonly primary: PrimaryConf | undefined;
  readonly problem: ConfDirProblem | undefined;
}

/** Chooses the primary network's conf over time: a file that is being written or was just removed does not change the choice. */
export class PrimaryChoice {
  readonly #place: PrimaryPlace;
  readonly #clock: Clock;
  #good: PrimaryConf | undefined;
  /** Files that stood beside the good one. */
  #neighbours: ReadonlySet<string> = new Set();
  #goneSinceMs: number | undefined;
  readonly #readLast: () => Promise<LastPrimary | undefined>;
  #last: Promise<LastPrimary | undefined> | undefined;

  constructor(place: PrimaryPlace, clock: Clock, readLast: () => Promise<LastPrimary | undefined>) {
    this.#place = place;
    this.#clock = clock;
    this.#readLast = readLast;
  }

  async look(): Promise<Chosen> {
    const finding = await findPrimary(this.#place);
    if (finding.primary === undefined) {
      const kind = finding.lack === "absent" ? "missing-primary" : "primary-unusable";
      return { primary: this.#good, problem: warning(kind, this.#lackText(finding.why), finding.remedy) };
    }
    const gone = this.#good === undefined ? await this.#goneBefore(finding) : this.#gone(finding);
    if (gone !== undefined && this.#mayReturn())
      return { primary: this.#good, problem: leftoverProblem(gone, finding.primary) };
    this.#good = finding.primary;
    this.#neighbours = new Set(finding.names);
    this.#goneSinceMs = undefined;
    return { primary: finding.primary, problem: undefined };
  }

  #lackText(why: string): string {
    return this.#good === undefined
      ? `No primary network exists to attach pods to, so no conf is written yet: ${why}`
      : `The primary network's conf cannot be read now, so the last good one (${this.#good.path}) stays: ${why}`;
  }

  /**
   * The conf that has just gone, when its former neighbour would take its place. An agent that is being replaced removes
   * its conf and writes it again; pods that start in between must not land in another network.
   */
  #gone({ primary, names }: PrimaryFound): string | undefined {
    const good = this.#good;
    const isGone = good !== undefined && primary.path !== good.path && !names.includes(good.fileName);
    return isGone && this.#neighbours.has(primary.fileName) ? good.path : undefined;
  }

  /** The same, for a conf that went while no daemon ran: after a reboot the primary's agent may start last. */
  async #goneBefore({ primary, names }: PrimaryFound): Promise<string | undefined> {
    const { multusMasterCNI, multusAutoconfigDir } = this.#place;
    const last = await (this.#last ??= this.#readLast());
    if (last === undefined || multusMasterCNI !== "" || dirname(last.path) !== multusAutoconfigDir) return undefined;
    if (last.path === primary.path || names.includes(basename(last.path))) return undefined;
    const facts = await stat(primary.path).catch(() => undefined);
    // A file written since then is not a leftover.
    return facts === undefined || facts.mtimeMs <= last.writtenMs ? last.path : undefined;
  }

  #mayReturn(): boolean {
    this.#goneSinceMs ??= this.#clock.monotonicMs();
    return this.#clock.monotonicMs() - this.#goneSinceMs < leftoverWaitMs;
  }
}

function leftoverProblem(gone: string, leftover: PrimaryConf): ConfDirProblem {
  return warning(
    "missing-primary",
    `The primary network's conf ${gone} is gone; ${leftover.path}, which was there before, takes its place unless it returns within ${leftoverWaitMs / 1_000} s`,
    "",
  );
}
