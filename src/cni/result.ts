import type { JsonText } from "../base/brand.ts";
import { requireVersion } from "./cni-version.ts";
import { JsonReader } from "./json-reader.ts";
import { jsonKind, jsonString, memberText, setMember } from "./json-text.ts";
import type { CniResult } from "./result-model.ts";
import { readResult } from "./result-parse.ts";
import { printResultAs } from "./result-print.ts";

export type { CniResult, ResultDns, ResultInterface, ResultIp, ResultRoute } from "./result-model.ts";

/** Reads a plugin's result in any version; one without `cniVersion` is in `fallbackVersion`, the configuration's. */
export function parseResult(text: JsonText, fallbackVersion: string, what: string = "the result"): CniResult {
  const reader = JsonReader.of(JSON.parse(text), what);
  const version = reader.string("cniVersion") ?? "";
  return readResult(reader, requireVersion(version === "" ? fallbackVersion : version, what));
}

/** Prints a result in `cniVersion` as libcni does: four spaces, no newline at the end. */
export function printResult(result: CniResult, cniVersion: string): string {
  return printResultAs(result, requireVersion(cniVersion, "the caller's configuration"));
}

/** Gives a result that says no version the configuration's, as text; plugins later in the chain need to know. */
export function withCniVersion(text: JsonText, version: string): JsonText {
  const seen = memberText(text, "cniVersion");
  const isSet = seen !== undefined && jsonKind(seen) !== "null" && seen !== '""';
  return isSet ? text : setMember(text, "cniVersion", jsonString(version));
}
