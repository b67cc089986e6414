import { bytesFields, flagField, numberField, type Frame } from "./frame.ts";
import { readOutcome, type Outcome } from "./outcome.ts";

/** The network interfaces inside one namespace. */
export interface NetnsLinks {
  readonly names: readonly string[];
  /** There are more interfaces, so a missing name proves nothing. */
  readonly isTruncated: boolean;
  /** How many processes are in it, apart from the hand's own. Undefined when not asked, or when the hand cannot say. */
  readonly users: number | undefined;
}

/** Whether the name is certainly not in the namespace. */
export function lacksLink({ names, isTruncated }: NetnsLinks, ifname: string): boolean {
  return !isTruncated && !names.includes(ifname);
}

export function readNetnsLinks(frame: Frame): { readonly value: NetnsLinks; readonly outcome: Outcome } {
  // The kernel allows names that are not UTF-8. Levee never looks for such a name.
  const names = bytesFields(frame, "link").map((name) => Buffer.from(name).toString("utf8"));
  const value = { names, isTruncated: flagField(frame, "truncated"), users: numberField(frame, "users") };
  return { value, outcome: readOutcome(frame) };
}
