import type { LeveeError } from "../base/errors.ts";
import { printGoJson } from "./go-json.ts";

/** A failed plugin's own account of itself. */
export interface CniError {
  readonly code: number;
  readonly msg: string;
  readonly details: string;
}

/** Reads the error object a plugin printed; undefined when it printed something else, or nothing. */
export function parseCniError(stdout: string): CniError | undefined {
  const fields = objectOrNothing(stdout);
  if (fields === undefined) return undefined;
  const { code, msg, details } = fields;
  const error = { code: isCniCode(code) ? code : 999, msg: textOr(msg), details: textOr(details) };
  // A result has neither a number nor a sentence; an error with one of them still tells something.
  return error.msg === "" && !isCniCode(code) ? undefined : error;
}

/** The error object the runtime gets on stdout. */
export function printCniError(cniVersion: string, error: LeveeError): string {
  const { cniCode: code, message: msg, details } = error;
  return printGoJson({
    ...(cniVersion === "" ? {} : { cniVersion }),
    code,
    msg,
    ...(details === "" ? {} : { details }),
  });
}

/** Others are replaced by 999, the number libcni uses when a plugin failed without one. */
function isCniCode(code: unknown): code is number {
  return Number.isInteger(code) && Number(code) > 0 && Number(code) <= 0xffff_ffff;
}

function textOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function objectOrNothing(text: string): Partial<Record<keyof CniError, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // Plugins also crash with a stack trace on stdout; that is no CNI error.
    return undefined;
  }
}
