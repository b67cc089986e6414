import type { Departure } from "../../base/given-up.ts";
import type { Hand } from "../../hands/hand.ts";
import type { ResumeHeader } from "../../wire/messages.ts";

/** The work that runs chains: a call, or a change of the networks of a running pod. */
export interface ChainCaller {
  readonly hand: Pick<Hand, "run" | "routes" | "kill">;
  readonly givenUp: Pick<Departure, "throwIfAborted" | "addEventListener" | "removeEventListener">;
  readonly resumed: ResumeHeader | undefined;
  readonly header: { readonly budgetMs: number };
  remainingMs(): number;
}
