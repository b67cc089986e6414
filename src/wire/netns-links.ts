import type { NetnsPath } from "../base/brand.ts";
import { encodeFrame, flagField, lossyTexts, numberField, type Frame } from "./frame.ts";
import { readOrderEnd, type OrderEnd } from "./outcome.ts";

/** What is asked beside the names of the interfaces. */
export interface LinksQuestion {
  readonly countsUsers?: boolean;
  /** The interface whose addresses are asked for. */
  readonly addressesOf?: string;
}

/** The network interfaces inside one namespace. */
export interface NetnsLinks {
  readonly names: readonly string[];
  /** There are more interfaces, so a missing name proves nothing. */
  readonly isTruncated: boolean;
  /** How many processes are in it, apart from the hand's own. Undefined when not asked, or when the hand cannot say. */
  readonly users: number | undefined;
  /** Those of the interface that was asked about, `10.1.0.1/24`. None from a hand that does not know the question. */
  readonly addresses?: readonly string[];
}

/** Whether the name is certainly not in the namespace. */
export function lacksLink({ names, isTruncated }: NetnsLinks, ifname: string): boolean {
  return !isTruncated && !names.includes(ifname);
}

/** An empty `netns` is the hand's own namespace, which is the host's. */
export function encodeLinks(
  step: number,
  netns: NetnsPath | "",
  { countsUsers = false, addressesOf }: LinksQuestion = {},
): Uint8Array {
  return encodeFrame("LINKS", [
    ["step", step],
    ["netns", netns],
    ["count_users", countsUsers ? true : undefined],
    ["addresses_of", addressesOf],
  ]);
}

export function readNetnsLinks(frame: Frame): { readonly value: NetnsLinks; readonly outcome: OrderEnd } {
  // The kernel allows names that are not UTF-8. Levee never looks for such a name.
  const names = lossyTexts(frame, "link");
  const value = {
    names,
    isTruncated: flagField(frame, "truncated"),
    users: numberField(frame, "users"),
    addresses: lossyTexts(frame, "address"),
  };
  return { value, outcome: readOrderEnd(frame) };
}
