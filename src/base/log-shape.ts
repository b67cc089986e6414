import type { LogFields, LogLevel } from "./log-level.ts";

/** Whom a line is about, which does not make it another one. */
export const subjectFields: ReadonlySet<string> = new Set([
  "namespace",
  "pod",
  "container",
  "ifname",
  "networks",
  "attempt",
  "netns",
  "details",
]);

/** Enough to tell two errors apart; the rest of a plugin's words need not be looked through. */
const textCharsMax = 200;
/** A word with a figure in it: a number, an address, a hash, the name of a replica. */
const counted = /[^\s"'(),:;=[\]{}]*\d[^\s"'(),:;=[\]{}]*/gu;

/**
 * What makes lines of the log the same. Good news is the same by message, verb and class. Bad news is compared field by
 * field, without its subject and without figures: the same plugin's same complaint about two pods is one, its two
 * different complaints are not.
 */
export function lineShape(level: LogLevel, message: string, fields: LogFields): string {
  if (level === "debug" || level === "info")
    return `${level} ${message} ${textOf(fields["verb"])} ${textOf(fields["class"])}`;
  const { pod, container } = fields;
  let shape = `${level} ${plain(message, pod, container)}`;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string" && !subjectFields.has(name)) shape += ` ${name}=${plain(value, pod, container)}`;
  }
  return shape;
}

function plain(text: string, pod: LogFields[string], container: LogFields[string]): string {
  let short = text.slice(0, textCharsMax);
  for (const name of [pod, container]) {
    if (typeof name === "string" && name !== "") short = short.replaceAll(name, "#");
  }
  return short.replace(counted, "#");
}

function textOf(value: LogFields[string]): string {
  return typeof value === "string" ? value : "";
}
