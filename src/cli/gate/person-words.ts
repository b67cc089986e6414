import { exceptionMsMax } from "../../guard/gate/reboot-exception.ts";
import { overrideMsMax } from "../../guard/gate/reboot-override.ts";
import { usageFailure } from "../failure.ts";
import { parseSpan } from "../storm/quantity.ts";
import { ageText } from "../terminal/span.ts";

const labelsMax = 16;
const valueCharsMax = 253;
const reasonCharsMax = 1_024;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/u;
const days = /^(\d{1,4})d$/u;
const moment = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2}))?$/u;

/** `alertname=X,label=Y`: every part is a name and a value, and no name comes twice. */
export function parseMatch(text: string): Readonly<Record<string, string>> {
  const example = "'alertname=NodeFilesystemFull,mountpoint=/mnt/backup'";
  const wrong = (why: string): Error => usageFailure(`Cannot use ${JSON.stringify(text)} as labels: ${why}`, example);
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length > labelsMax) throw wrong(`they may be ${labelsMax} at most, and are ${parts.length}`);
  const match = new Map<string, string>();
  for (const part of parts) {
    const [name = "", ...rest] = part.split("=");
    const value = rest.join("=");
    if (!labelName.test(name)) throw wrong(`${JSON.stringify(part)} must begin with the name of a label and =`);
    if (rest.length === 0 || value.trim() === "") throw wrong(`${name} must have a value`);
    if (value.length > valueCharsMax) throw wrong(`the value of ${name} may have ${valueCharsMax} characters at most`);
    if (match.has(name)) throw wrong(`${name} is there twice`);
    match.set(name, value.trim());
  }
  return Object.fromEntries(match);
}

export function parseReason(text: string | undefined): string {
  const reason = text?.trim() ?? "";
  if (reason === "")
    throw usageFailure("Cannot go on without --reason: whoever reads it later must know why", '--reason "…"');
  if (reason.length > reasonCharsMax)
    throw usageFailure(
      `Cannot use a --reason of ${reason.length} characters: it may have ${reasonCharsMax} at most`,
      '--reason "…"',
    );
  return reason;
}

/** A date, a time with its zone, or a span from now. Returns milliseconds since 1970. */
export function parseUntil(text: string | undefined, nowMs: number): number {
  if (text === undefined)
    throw usageFailure("Cannot go on without --until: an exception must end", "--until 14d, or --until 2026-06-30");
  const [, count] = days.exec(text) ?? [];
  const untilMs =
    count !== undefined
      ? nowMs + Number(count) * 86_400_000
      : moment.test(text)
        ? Date.parse(text)
        : nowMs + spanMs("--until", text);
  if (Number.isNaN(untilMs))
    throw usageFailure(`Cannot use ${JSON.stringify(text)} as --until: there is no such day or time`, "--until 14d");
  if (untilMs <= nowMs)
    throw usageFailure(`Cannot use ${JSON.stringify(text)} as --until: it is over already`, "--until 14d");
  if (untilMs - nowMs > exceptionMsMax)
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as --until: an exception lasts ${ageText(exceptionMsMax)} at most`,
      `--until ${ageText(exceptionMsMax)}`,
    );
  return untilMs;
}

export function parseFor(text: string | undefined): number {
  if (text === undefined) throw usageFailure("Cannot go on without --for: a person's word must end", "--for 30m");
  const ms = spanMs("--for", text);
  if (ms < 60_000 || ms > overrideMsMax)
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as --for: it must be from 1m to ${ageText(overrideMsMax)}`,
      "--for 30m",
    );
  return ms;
}

function spanMs(option: string, text: string): number {
  const [, count] = days.exec(text) ?? [];
  return count === undefined ? parseSpan(option, text) : Number(count) * 86_400_000;
}
