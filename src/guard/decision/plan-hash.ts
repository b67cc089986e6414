import { createHash } from "node:crypto";
import type { DecisionSpec } from "./decision.ts";

/** Everything that is approved. Evidence, chain and notes are reasons; they explain the plan and are no part of it. */
export type Plan = Pick<DecisionSpec, "cause" | "purpose" | "subject" | "steps">;

/**
 * The hash a person approves. It covers every step with all its parameters, the frozen targets, and for git the content
 * that was read and the bytes that will be written. Whoever has the Decision can compute it again: SHA-256 over the plan
 * as JSON, keys sorted, no blanks.
 */
export function planHash({ cause, purpose, subject, steps }: Plan): string {
  const text = canonicalJson({ cause, purpose, subject, steps });
  return `sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`;
}

/** One text per value, whatever the order of keys was. Throws for what two readers could print differently. */
export function canonicalJson(value: unknown): string {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return JSON.stringify(value);
  if (typeof value === "number") return integerText(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object") return objectText(value);
  throw new TypeError(`Cannot print a ${typeof value} in a plan`);
}

function integerText(value: number): string {
  if (!Number.isSafeInteger(value))
    throw new TypeError(`Cannot print ${value} in a plan: only whole numbers are alike everywhere`);
  return String(value);
}

/** By UTF-16 code units, as `sort` does by itself. What is undefined is absent, as the API server would have it. */
function objectText(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
