import type { AdmissionRequest } from "../request.ts";
import type { Waiting } from "./waiting.ts";

/**
 * How long calls may stay in line once the runtime waits for all its calls to end. The kubelet takes a silent runtime
 * for dead after 30 s and looks every 5 s, so 10 s are left for the plugins.
 */
const hurriedMs = 15_000;
/** A call that had begun when the hurry began joins the line within this time: its shim starts and looks up the pod. */
const beginsMs = 5_000;

/**
 * After a change in its conf folder containerd begins no call until those before have ended (from 2.0.2 on; it holds a
 * lock over every call). So calls in line leave soon. A call that begins meanwhile shows that the runtime does not wait.
 */
export class Hurry {
  #sinceMs: number | undefined;
  #hasServed = false;

  begin(nowMs: number): void {
    // Before the first call the runtime waits for none: it has just found the conf that leads it here.
    if (!this.#hasServed) return;
    // A second change while the runtime still waits for the first does not give the calls more time.
    this.#sinceMs ??= nowMs;
  }

  /** A call joins the line. The next try of a call is no new one. */
  joined({ isRetry }: AdmissionRequest, nowMs: number): void {
    this.#hasServed = true;
    if (this.#sinceMs !== undefined && isRetry !== true && nowMs >= this.#sinceMs + beginsMs) this.#sinceMs = undefined;
  }

  /** The calls of a line that must leave before this time, because the runtime waits for them. */
  before(ms: number, waiting: Iterable<Waiting>): readonly Waiting[] {
    const sinceMs = this.#sinceMs;
    if (sinceMs === undefined || ms < sinceMs + hurriedMs) return [];
    return [...waiting].filter((one) => one.request.isRetry === true || one.sinceMs < sinceMs + beginsMs);
  }
}
