import { foldKey } from "../cni/fold-key.ts";
import { knobs } from "./knobs.ts";
import { multusKeys, type MultusKey, type MultusKind } from "./multus-keys.ts";
import type { SettingsReader } from "./settings-reader.ts";

/** Checks the keys without effect, and returns a notice for each of them and for each unknown key. */
export function readIgnored(from: SettingsReader): string[] {
  return [...withoutEffect(from), ...unknown(from)];
}

const known: ReadonlyMap<string, string> = new Map(
  [...Object.keys(knobs), ...Object.keys(multusKeys)].map((key) => [foldKey(key), key]),
);

function withoutEffect(from: SettingsReader): string[] {
  const present = rowsWith(from, ["ignored", "per-call"]);
  for (const [key, row] of present) checkKind(from, key, row.kind);
  const told = present.filter(([key, row]) => row.anyway === undefined || from.flag(key) !== row.anyway);
  return told.map(([key, row]) => `${key} has no effect: ${row.note}`);
}

function rowsWith(from: SettingsReader, uses: readonly MultusKey["use"][]): [string, MultusKey][] {
  return Object.entries<MultusKey>(multusKeys).filter(([key, row]) => uses.includes(row.use) && from.has(key));
}

/** A wrong type is a mistake even in an unused key: Multus would not start with it. The caller reads flags. */
function checkKind(from: SettingsReader, key: string, kind: MultusKind): void {
  if (key === "connectionLimit") from.integer(key, 1, Number.MAX_SAFE_INTEGER);
  else if (kind === "string" || kind === "path") from.string(key);
  else if (kind === "object") from.object(key);
  else if (kind === "list") from.list(key);
}

function unknown(from: SettingsReader): string[] {
  return from.settings
    .filter((setting) => !known.has(foldKey(setting.key)))
    .map((setting) => {
      const near = nearest(setting.key);
      return `${JSON.stringify(setting.key.slice(0, 80))} is an unknown setting and has no effect${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
}

/** The nearest key that has an effect, within two typing errors. */
function nearest(key: string): string | undefined {
  // A long key is no typing error, and the comparison is quadratic.
  if (key.length > 64) return undefined;
  const rows: Readonly<Record<string, MultusKey | undefined>> = multusKeys;
  const ranked = [...known]
    .filter(([, name]) => (rows[name]?.use ?? "used") === "used")
    .map(([folded, name]) => ({ name, slips: distance(foldKey(key), folded) }));
  return ranked.filter(({ slips }) => slips <= 2).toSorted((left, right) => left.slips - right.slips)[0]?.name;
}

/** Levenshtein distance. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_unused, index) => index);
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at];
    for (let index = 1; index <= right.length; index += 1) {
      const change = (row[index - 1] ?? 0) + (left[at - 1] === right[index - 1] ? 0 : 1);
      next.push(Math.min((row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1, change));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
