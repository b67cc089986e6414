import type { Hand } from "../../hands/hand.ts";

type SharedOrders = Pick<Hand, "run" | "routes" | "kill">;

/**
 * The resident hand as one change of networks sees it. The steps of a plan begin at 1 in every plan, and the resident
 * hand works on several at once: so its orders get numbers of the hand's own.
 */
export class HandShare implements SharedOrders {
  readonly #hand: Hand;
  readonly #numbers = new Map<number, number>();

  constructor(hand: Hand) {
    this.#hand = hand;
  }

  run(...[order, step, onProgress]: Parameters<Hand["run"]>): ReturnType<Hand["run"]> {
    return this.#hand.run(order, this.#numberOf(step), onProgress);
  }

  routes(...[netns, ops, step]: Parameters<Hand["routes"]>): ReturnType<Hand["routes"]> {
    return this.#hand.routes(netns, ops, this.#numberOf(step));
  }

  kill(step: number): void {
    const number = this.#numbers.get(step);
    if (number !== undefined) this.#hand.kill(number);
  }

  #numberOf(step: number | undefined): number {
    const number = this.#hand.freeStep();
    if (step !== undefined) this.#numbers.set(step, number);
    return number;
  }
}
