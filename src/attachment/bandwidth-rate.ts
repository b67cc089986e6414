import type { JsonText } from "../base/brand.ts";
import { jsonKind } from "../cni/json-text.ts";

/** What `bandwidth` may limit. */
export const rateKeys = ["ingressRate", "ingressBurst", "egressRate", "egressBurst"];

/** Whether a value of `bandwidth` is a number of bits that every reader takes for the same one. */
export function isRate(value: JsonText | undefined): boolean {
  return (
    value === undefined ||
    jsonKind(value) === "null" ||
    (/^(?:0|[1-9][0-9]*)$/.test(value) && Number.isSafeInteger(Number(value)))
  );
}
