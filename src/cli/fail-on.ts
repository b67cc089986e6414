import { usageFailure } from "./failure.ts";

/** The least severe result that fails a check. */
export type FailOn = "warning" | "error";

export function failOnOf(text: string): FailOn {
  if (text === "warning" || text === "error") return text;
  throw usageFailure(`Cannot use ${JSON.stringify(text)} as --fail-on: it must be warning or error`, "--fail-on error");
}
