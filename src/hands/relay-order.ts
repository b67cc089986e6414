import { frameBytes, numberField, withNumber, type Frame } from "../wire/frame.ts";
import type { Hand } from "./hand.ts";

/** An order of a call without a shim of its own, on its way through the resident hand. */
export interface LentOrder {
  /** Nobody waits for it any more. */
  readonly isDropped: boolean;
  /** It is sent, under this number of the hand's own. */
  begun(step: number): void;
  progressed(idleMs: number): void;
}

/** For orders without a limit of their own. */
const quickMs = 5_000;

/** Has the resident hand carry out such an order. Resolves to undefined when it was dropped before its turn. */
export async function relayOrder(hand: Hand, order: Frame, lent: LentOrder): Promise<Frame | undefined> {
  using _place = order.type === "RUN" ? await hand.places?.runs.take() : undefined;
  if (lent.isDropped) return undefined;
  const step = hand.freeStep();
  lent.begun(step);
  const limits = {
    limitMs: numberField(order, "timeout_ms") ?? quickMs,
    onProgress: (idleMs: number) => lent.progressed(idleMs),
  };
  return await hand.ask(step, frameBytes(withNumber(order, "step", step)), limits, (outcome) => outcome);
}
