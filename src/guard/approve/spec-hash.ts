import { createHash } from "node:crypto";
import { canonicalJson } from "../decision/plan-hash.ts";

/** Of a policy's spec, whatever the order of its keys. Throws for what is no JSON or has fractions. */
export function specHash(spec: unknown): string {
  return createHash("sha256").update(canonicalJson(spec), "utf8").digest("hex");
}
