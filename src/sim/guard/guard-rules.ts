import type { SimEvent } from "../node/sim-event.ts";
import type { Broken } from "../story/invariants.ts";
import type { AcceptedWrite } from "./api-server.ts";
import type { GuardWorld } from "./guard-world.ts";

/** What must hold at every moment of a guard story, and at its end. */
export class GuardRules {
  readonly broken: Broken[] = [];
  readonly #world: GuardWorld;

  constructor(world: GuardWorld) {
    this.#world = world;
  }

  see(_nowMs: number, _event: SimEvent): void {
    void this.#world;
  }

  written(_nowMs: number, _write: AcceptedWrite): void {
    void this.#world;
  }

  rebooted(_nowMs: number, _node: string): void {
    void this.#world;
  }

  look(_nowMs: number): void {
    void this.#world;
  }

  atEnd(_nowMs: number): readonly Broken[] {
    return [];
  }
}
