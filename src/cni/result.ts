import type { JsonText } from "../base/brand.ts";
import { requireVersion } from "./cni-version.ts";
import { JsonReader } from "./json-reader.ts";
import { jsonKind, jsonObject, jsonString, setMember } from "./json-text.ts";
import type { CniResult } from "./result-model.ts";
import { readResult } from "./result-parse.ts";
import { printResultAs } from "./result-print.ts";

export type { CniResult, ResultInterface, ResultRoute } from "./result-model.ts";

/** Reads a plugin's result of any version. A result without `cniVersion` has the configuration's, `fallbackVersion`. */
export function parseResult(text: JsonText, fallbackVersion: string, what: string = "the result"): CniResult {
  const known = recent.get(text);
  if (known?.fallbackVersion === fallbackVersion) return known.result;
  const reader = JsonReader.of(JSON.parse(orEmpty(text)), what);
  const version = reader.string("cniVersion") ?? "";
  const result = readResult(reader, requireVersion(version === "" ? fallbackVersion : version, what));
  remember(text, { fallbackVersion, result });
  return result;
}

/** The daemon reads the same result several times within milliseconds: for the reply, for the pod's status and more. */
const recent = new Map<JsonText, { readonly fallbackVersion: string; readonly result: CniResult }>();
/** Enough for eight ADDs at once with two networks each. */
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

/** Adds the configuration's version to a result without one, because later plugins of the chain need it. */
export function withCniVersion(text: JsonText, version: string): JsonText {
  const object = orEmpty(text);
  const stated = JsonReader.of(JSON.parse(object), "the result").string("cniVersion") ?? "";
  return stated === "" ? setMember(object, "cniVersion", jsonString(version)) : object;
}

/** libcni takes null for a result without anything. */
function orEmpty(text: JsonText): JsonText {
  return jsonKind(text) === "null" ? jsonObject([]) : text;
}
