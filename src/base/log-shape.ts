import type { LogFields, LogLevel } from "./log-level.ts";

/** Fields that name the subject of a line. Lines that differ only here have the same shape. */
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

/** Enough to tell two errors apart. The rest of a plugin's text is not compared. */
const textCharsMax = 200;
/** A word with a figure in it: a number, an address, a hash, the name of a replica. */
const counted = /[^\s"'(),:;=[\]{}]*\d[^\s"'(),:;=[\]{}]*/gu;

/**
 * Lines of the log with the same shape say the same. Lines of debug and info are compared by message, verb and class.
 * Warnings and errors are compared field by field, without subject and figures: one complaint of a plugin about two pods
 * is one shape, and two different complaints are two.
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
