import { stringify } from "yaml";
import { plainValue } from "../base/plain-text.ts";
import type { Screen } from "./world.ts";

export const outputFormats = ["table", "wide", "json", "yaml"] as const;
/** Of commands that have them. */
const furtherFormats = ["name", "short"] as const;
export type OutputFormat = (typeof outputFormats)[number] | (typeof furtherFormats)[number];

/** One answer in the format that was asked for. `text` is for people, `value` for programs. */
export function print(screen: Screen, format: OutputFormat, answer: Printable): void {
  switch (format) {
    case "json":
      screen.write(`${JSON.stringify(plainValue(answer.value), undefined, 2)}\n`);
      return;
    case "yaml":
      screen.write(stringify(plainValue(answer.value), { lineWidth: 0 }));
      return;
    case "wide":
      screen.write(answer.wide?.() ?? answer.text());
      return;
    case "name":
      screen.write(answer.name?.() ?? answer.text());
      return;
    case "short":
      screen.write(answer.short?.() ?? answer.text());
      return;
    case "table":
      screen.write(answer.text());
  }
}

export interface Printable {
  readonly value: unknown;
  text(): string;
  wide?(): string;
  /** One name per line, for other commands. */
  name?(): string;
  /** Only what asks for something. */
  short?(): string;
}
