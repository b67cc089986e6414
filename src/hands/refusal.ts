import { LeveeError } from "../base/errors.ts";
import type { OrderEnd, Outcome } from "../wire/outcome.ts";

const enoent = 2;
const eagain = 11;
const enotdir = 20;

/** The hand had too much to do and did nothing. That says nothing about the order, so the order is made again later. */
export function isBusyRefusal({ failure, errno }: OrderEnd): boolean {
  return failure === "refused" && errno === eagain;
}

/** A missing path is an answer, but a failed look is an error, because callers delete things by the answer. */
export function lookResult<T>({ value, outcome }: { readonly value: T; readonly outcome: OrderEnd }): T | undefined {
  if (outcome.failure === undefined) return value;
  if (outcome.errno === enoent || outcome.errno === enotdir) return undefined;
  throw lookError(outcome, outcome.message);
}

/** What STAT found at each path. */
export function foundAt(paths: readonly string[], outcome: Outcome): Outcome["found"] {
  if (outcome.failure === undefined && outcome.found.length === paths.length) return outcome.found;
  const reason = outcome.message || "the hand answered for another number of paths";
  throw lookError(outcome, `Cannot look at ${paths.join(", ")}: ${reason}`);
}

export function requireDone(outcome: OrderEnd): void {
  if (outcome.failure !== undefined) throw lookError(outcome, outcome.message);
}

function lookError(outcome: OrderEnd, message: string): LeveeError {
  if (isBusyRefusal(outcome)) return new LeveeError("try-later", message);
  const isForeign = outcome.failure === undefined || outcome.failure === "refused";
  return new LeveeError(isForeign ? "protocol-violated" : "io-failed", message);
}
