import type { RebootGate } from "../../wire/reboot-gate.ts";
import { turnMs } from "./gate-turn.ts";

/** Since when it is whose turn. A new leader reads it from the gates that it finds. */
export class TurnBook {
  readonly #begunMs = new Map<string, number>();
  #hasRead = false;

  begin(before: ReadonlyMap<string, RebootGate>): ReadonlyMap<string, number> {
    if (!this.#hasRead)
      for (const { node, verdict, allowedSinceMs, override } of before.values())
        if (verdict === "Allow" && override === undefined && allowedSinceMs !== undefined)
          this.#begunMs.set(node, allowedSinceMs);
    this.#hasRead = true;
    return this.#begunMs;
  }

  /** Notes the turns that begin with these gates, and forgets nodes that no longer wait. */
  note(gates: readonly RebootGate[], nowMs: number): void {
    const names = new Set(gates.map(({ node }) => node));
    for (const name of this.#begunMs.keys()) if (!names.has(name)) this.#begunMs.delete(name);
    for (const { node, verdict, override } of gates) {
      if (verdict !== "Allow" || override !== undefined) continue;
      const begunMs = this.#begunMs.get(node);
      if (begunMs === undefined || nowMs - begunMs >= turnMs) this.#begunMs.set(node, nowMs);
    }
  }
}
