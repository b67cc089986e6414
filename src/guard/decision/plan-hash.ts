import { createHash } from "node:crypto";
import type { DecisionSpec } from "./decision.ts";

/** The approved part. Evidence, chain and notes explain the plan and are not part of it. */
export type Plan = Pick<DecisionSpec, "cause" | "purpose" | "subject" | "steps">;

/**
 * The hash that a person approves. It covers every step with its parameters, the targets, and for git the content read and
 * the bytes to write. Anyone with the Decision can compute it: SHA-256 over the plan as JSON with sorted keys and no
 * whitespace.
 */
export function planHash({ cause, purpose, subject, steps }: Plan): string {
  const text = canonicalJson({ cause, purpose, subject, steps });
  return `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
}

/** One text per value, independent of key order. Throws for values that two readers could print differently. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return JSON.stringify(value);
  if (typeof value === "number") return integerText(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object") return objectText(value);
  throw new TypeError(`Cannot print a ${typeof value} in a plan`);
}

function integerText(value: number): string {
  if (!Number.isSafeInteger(value))
    throw new TypeError(`Cannot print ${value} in a plan: only whole numbers print the same everywhere`);
  return String(value);
}

/** Sorted by UTF-16 code units, like `sort`. Undefined members are absent, as in the API server. */
function objectText(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
