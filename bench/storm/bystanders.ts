import { systemClock } from "../../src/base/clock.ts";
import { Fleet, netnsNameOf } from "../../src/cli/storm/fleet.ts";
import { pause } from "../../test/e2e/until.ts";
import type { RunningNode } from "../contenders/contender.ts";
import type { Ground } from "../ground/ground.ts";
import { otherPods } from "./pods.ts";
import { waits } from "./storm.ts";

/** In the middle of the other work. */
const afterMs = 300;
const cutMs = 60_000;
export const bystandersWithinMs = 500;

/** Pods of another namespace that arrive during other work and should not be delayed by it. */
export class Bystanders {
  readonly #fleet: Fleet;
  readonly #pods: Awaited<ReturnType<Ground["source"]["addPods"]>>;

  private constructor(fleet: Fleet, pods: Awaited<ReturnType<Ground["source"]["addPods"]>>) {
    this.#fleet = fleet;
    this.#pods = pods;
  }

  static async make(ground: Ground, node: RunningNode): Promise<Bystanders> {
    const pods = await ground.source.addPods(otherPods);
    await ground.netns.add(pods.map(netnsNameOf));
    return new Bystanders(new Fleet({ clock: systemClock, caller: node.caller, netns: ground.netns, seed: 1 }), pods);
  }

  async arrive(): Promise<void> {
    await pause(afterMs);
    await this.#fleet.arrive(this.#pods, AbortSignal.timeout(cutMs));
  }

  async leave(): Promise<void> {
    await this.#fleet.deleteAll(AbortSignal.timeout(cutMs));
  }

  /** Longest first. */
  get waitsMs(): readonly (number | undefined)[] {
    return waits(this.#fleet.records);
  }
}
