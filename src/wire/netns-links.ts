import { bytesFields, flagField, type Frame } from "./frame.ts";
import { readOutcome, type Outcome } from "./outcome.ts";

/** The network interfaces inside one namespace. */
export interface NetnsLinks {
  readonly names: readonly string[];
  /** There are more: a name that is missing here says nothing then. */
  readonly isTruncated: boolean;
}

export function readNetnsLinks(frame: Frame): { readonly value: NetnsLinks; readonly outcome: Outcome } {
  // The kernel allows any bytes but / and white space in a name; one that is not UTF-8 is of no interest to anybody here.
  const names = bytesFields(frame, "link").map((name) => Buffer.from(name).toString("utf8"));
  return { value: { names, isTruncated: flagField(frame, "truncated") }, outcome: readOutcome(frame) };
}
