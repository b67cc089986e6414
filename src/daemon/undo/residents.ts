import type { Clock } from "../../base/clock.ts";
import type { Hand } from "../../hands/hand.ts";

export interface ResidentHand {
  readonly hand: Hand;
  readonly sinceWallMs: number;
}

/** The connected resident hands: usually one, and two while the node's pod is replaced. */
export class Residents {
  readonly #clock: Pick<Clock, "wallMs">;
  readonly #hands = new Map<Hand, number>();
  #joined: () => void = () => undefined;

  constructor(clock: Pick<Clock, "wallMs">) {
    this.#clock = clock;
  }

  /** Calls the listener, of which there is one, whenever a hand joins. */
  onJoined(listener: () => void): void {
    this.#joined = listener;
  }

  add(hand: Hand): void {
    this.#hands.set(hand, this.#clock.wallMs());
    hand.lost.addEventListener("abort", () => this.#hands.delete(hand), { once: true });
    this.#joined();
  }

  all(): readonly ResidentHand[] {
    return [...this.#hands].map(([hand, sinceWallMs]) => ({ hand, sinceWallMs }));
  }

  /** The first that is still connected. */
  current(): ResidentHand | undefined {
    return this.all().find(({ hand }) => !hand.isLost);
  }

  hand(): Hand | undefined {
    return this.current()?.hand;
  }
}
