import { decay } from "../../base/exact/decay.ts";

/** The time over which calls count: long enough for a few grants of a slow network, short enough to follow the node. */
const windowMs = 10_000;
/** A line must have been busy for so long before its rate says anything. */
const knownMs = 4_000;
/** With fewer calls in the window one slow plugin decides. */
const grantsMin = 3;

/** How fast a busy line moves. Times in which it was empty or held back do not count. */
export class ServiceRate {
  #grants = 0;
  #busyMs = 0;
  #lookedMs = 0;
  #wasBusy = false;

  granted(): void {
    this.#grants += 1;
  }

  /** Called at every sweep. A line that is not busy says nothing about the next storm. */
  look(nowMs: number, isBusy: boolean): void {
    const passedMs = this.#wasBusy ? nowMs - this.#lookedMs : 0;
    this.#lookedMs = nowMs;
    this.#wasBusy = isBusy;
    const kept = isBusy ? decay(passedMs / windowMs) : 0;
    this.#grants *= kept;
    this.#busyMs = this.#busyMs * kept + (isBusy ? passedMs : 0);
  }

  /** The time from one grant to the next; undefined while unknown. */
  get msPerCall(): number | undefined {
    return this.#busyMs < knownMs || this.#grants < grantsMin ? undefined : this.#busyMs / this.#grants;
  }
}
