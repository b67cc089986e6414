import { stringify } from "yaml";
import { plainValue } from "../../base/plain-text.ts";
import type { Screen } from "../shell.ts";

export const outputFormats = ["table", "wide", "json", "yaml"] as const;
/** Only some commands have these. */
const furtherFormats = ["name", "short", "sarif", "github"] as const;
export type OutputFormat = (typeof outputFormats)[number] | (typeof furtherFormats)[number];

/** Prints one answer in the chosen format. `text` is for people, `value` for programs. */
export function print(screen: Pick<Screen, "write">, format: OutputFormat, answer: Printable): void {
  screen.write(textIn(format, answer));
}

function textIn(format: OutputFormat, answer: Printable): string {
  switch (format) {
    case "json":
      return `${JSON.stringify(plainValue(answer.value), undefined, 2)}\n`;
    case "yaml":
      return stringify(plainValue(answer.value), { lineWidth: 0 });
    case "table":
      return answer.text();
    default: {
      const form = answer[format]?.bind(answer) ?? answer.text.bind(answer);
      return form();
    }
  }
}

interface Printable {
  readonly value: unknown;
  text(): string;
  wide?(): string;
  /** One name per line, for other commands. */
  name?(): string;
  /** Only what needs attention. */
  short?(): string;
  /** For code scanning. */
  sarif?(): string;
  /** For the log of a workflow. */
  github?(): string;
}
