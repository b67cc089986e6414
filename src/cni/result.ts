import type { JsonText } from "../base/brand.ts";
import { requireVersion } from "./cni-version.ts";
import { JsonReader } from "./json-reader.ts";
import { jsonString, setMember } from "./json-text.ts";
import type { CniResult } from "./result-model.ts";
import { readResult } from "./result-parse.ts";
import { printResultAs } from "./result-print.ts";

export type { CniResult, ResultDns, ResultInterface, ResultIp, ResultRoute } from "./result-model.ts";

/** Reads a plugin's result in any version; one without `cniVersion` is in `fallbackVersion`, the configuration's. */
export function parseResult(text: JsonText, fallbackVersion: string, what: string = "the result"): CniResult {
  const known = recent.get(text);
  if (known?.fallbackVersion === fallbackVersion) return known.result;
  const reader = JsonReader.of(JSON.parse(text), what);
  const version = reader.string("cniVersion") ?? "";
  const result = readResult(reader, requireVersion(version === "" ? fallbackVersion : version, what));
  remember(text, { fallbackVersion, result });
  return result;
}

/** The same result is read for the answer, the pod's status and more, all within milliseconds. */
const recent = new Map<JsonText, { readonly fallbackVersion: string; readonly result: CniResult }>();
/** Two networks for each of eight ADDs at a time. */
const recentMax = 16;
const recentCharsMax = 8_192;

function remember(text: JsonText, read: { readonly fallbackVersion: string; readonly result: CniResult }): void {
  if (text.length > recentCharsMax) return;
  recent.set(text, read);
  if (recent.size <= recentMax) return;
  for (const oldest of recent.keys()) {
    recent.delete(oldest);
    break;
  }
}

/** Prints a result in `cniVersion` as libcni does: four spaces, no newline at the end. */
export function printResult(result: CniResult, cniVersion: string): string {
  return printResultAs(result, requireVersion(cniVersion, "the caller's configuration"));
}

/** Gives a result that says no version the configuration's, as text; plugins later in the chain need to know. */
export function withCniVersion(text: JsonText, version: string): JsonText {
  const { cniVersion } = JSON.parse(text) as { cniVersion?: unknown }; // the caller has made sure that it is an object
  const isSet = cniVersion !== undefined && cniVersion !== null && cniVersion !== "";
  return isSet ? text : setMember(text, "cniVersion", jsonString(version));
}
