import type { LeveeError } from "../base/errors.ts";
import { isSameKey } from "./fold-key.ts";
import { printGoJson } from "./go-json.ts";

/** The error object that a failed plugin printed. */
interface CniError {
  readonly code: number;
  readonly msg: string;
  readonly details: string;
}

/** Undefined when the plugin printed no error object. */
export function parseCniError(stdout: string): CniError | undefined {
  const fields = objectOrNothing(stdout);
  if (fields === undefined) return undefined;
  const [code, msg, details] = ["code", "msg", "details"].map((key) => fieldOf(fields, key));
  const error = { code: isCniCode(code) ? code : 999, msg: textOr(msg), details: textOr(details) };
  // A result has neither code nor message. An error with only one of them is still useful.
  return error.msg === "" && !isCniCode(code) ? undefined : error;
}

/** The error object for the runtime, on stdout. */
export function printCniError(cniVersion: string, error: LeveeError): string {
  const { cniCode: code, message: msg, details } = error;
  return printGoJson({
    ...(cniVersion === "" ? {} : { cniVersion }),
    code,
    msg,
    ...(details === "" ? {} : { details }),
  });
}

/** The caller replaces any other code by 999, the number libcni uses for a plugin that fails without a code. */
function isCniCode(code: unknown): code is number {
  return Number.isInteger(code) && Number(code) > 0 && Number(code) <= 0xffff_ffff;
}

function textOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Go ignores the case of keys. */
function fieldOf(fields: object, key: string): unknown {
  return Object.entries(fields).findLast(([candidate]) => isSameKey(candidate, key))?.[1];
}

function objectOrNothing(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // A crashed plugin may print a stack trace to stdout, which is not a CNI error.
    return undefined;
  }
}
