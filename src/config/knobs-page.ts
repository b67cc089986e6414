import type { Knob } from "./knob.ts";
import { knobs } from "./knobs.ts";
import { multusKeys, type MultusKey } from "./multus-keys.ts";

/** The differences between docs/knobs.md and the tables; empty when they agree. */
export function knobsPageProblems(page: string): string[] {
  const wanted = [...knobRows(), ...multusRows()];
  const found = page.split("\n").filter((line) => line.startsWith("| `"));
  return [
    ...wanted.filter((row) => !found.includes(row)).map((row) => `docs/knobs.md lacks the row ${row}`),
    ...found
      .filter((row) => !wanted.includes(row))
      .map((row) => `docs/knobs.md has a row that no table in src/config has: ${row}`),
    ...found.filter((row, index) => found.indexOf(row) < index).map((row) => `docs/knobs.md has a row twice: ${row}`),
  ];
}

/** One row per setting: key, unit, default, bounds, reason. */
export function knobRows(): string[] {
  return Object.entries<Knob>(knobs).map(([key, knob]) =>
    row([`\`${key}\``, knob.unit, defaultOf(knob), boundsOf(knob), knob.reason]),
  );
}

/** One row per key of Multus: key, type, use, and its effect or why it has none. */
export function multusRows(): string[] {
  return Object.entries<MultusKey>(multusKeys).map(([key, entry]) =>
    row([`\`${key}\``, kindNames[entry.kind], entry.use, capitalised(entry.note)]),
  );
}

const kindNames: Readonly<Record<MultusKey["kind"], string>> = {
  string: "string",
  path: "absolute path",
  flag: "boolean",
  integer: "integer",
  object: "object",
  list: "list",
  strings: "list of strings",
  objects: "list of objects",
  flags: "object of booleans",
};

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function defaultOf(knob: Knob): string {
  if (knob.default === undefined) return "–";
  if (knob.unit === "boolean") return knob.default ? "on" : "off";
  return typeof knob.default === "number" ? grouped(knob.default) : `\`${knob.default}\``;
}

function boundsOf(knob: Knob): string {
  if (knob.unit === "path") return `absolute, ≤ ${grouped(knob.bytesMax)} bytes`;
  if (knob.unit === "URL") return `http or https, ≤ ${grouped(knob.bytesMax)} bytes`;
  if (knob.unit === "boolean") return "`true` or `false`";
  if (knob.unit === "choice") return `${knob.words.map((word) => `\`${word}\``).join(", ")}, or a list`;
  if (knob.unit === "list") return `≤ ${grouped(knob.itemsMax)} entries`;
  return `${grouped(knob.min)} to ${grouped(knob.max)}`;
}

/** 55000 as 55,000. */
function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/gu, ",");
}

function capitalised(note: string): string {
  const sentence = `${note.charAt(0).toUpperCase()}${note.slice(1)}`;
  return sentence.endsWith(".") ? sentence : `${sentence}.`;
}
