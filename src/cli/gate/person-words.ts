import { exceptionMsMax } from "../../guard/gate/reboot-exception.ts";
import { overrideMsMax } from "../../guard/gate/reboot-override.ts";
import { usageFailure } from "../failure.ts";
import { ageText } from "../terminal/span.ts";

const labelsMax = 16;
const valueCharsMax = 253;
const reasonCharsMax = 1_024;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]{0,127}$/u;
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
    const value = rest.join("=").trim();
    if (!labelName.test(name)) throw wrong(`${JSON.stringify(part)} must begin with the name of a label and =`);
    const problem = match.has(name) ? `${name} is there twice` : valueProblem(name, value);
    if (problem !== undefined) throw wrong(problem);
    match.set(name, value);
  }
  return Object.fromEntries(match);
}

/** Values are compared exactly. What people know from Prometheus' selectors would match nothing, and nobody would see it. */
function valueProblem(name: string, value: string): string | undefined {
  if (value === "") return `${name} must have a value`;
  if (value.length > valueCharsMax) return `the value of ${name} may have ${valueCharsMax} characters at most`;
  if (value.startsWith("~")) return `${name} is compared exactly, so =~ finds nothing; give the value itself`;
  if (/^(["']).*\1$/u.test(value)) return `the quotes would belong to the value of ${name}; leave them out`;
  return undefined;
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
  const spanMs = spanOf(text);
  if (spanMs === undefined && !moment.test(text))
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as --until: it must be a day, a time with its zone, or a span with its unit, s, m, h or d`,
      "--until 2026-06-30, --until 2026-06-30T18:00Z or --until 14d",
    );
  const untilMs = spanMs === undefined ? Date.parse(text) : nowMs + spanMs;
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
  const ms = spanOf(text);
  if (ms === undefined)
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as --for: it must be a span with its unit, m or h`,
      "--for 30m",
    );
  if (ms < 60_000 || ms > overrideMsMax)
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as --for: it must be from 1m to ${ageText(overrideMsMax)}`,
      "--for 30m",
    );
  return ms;
}

function spanOf(text: string): number | undefined {
  const [, count = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)(s|m|h|d)$/u.exec(text) ?? [];
  const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}
