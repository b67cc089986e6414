import { objectOf, textOf } from "../../kube/client/json-fields.ts";

/**
 * The annotation on a DaemonSet, one for each container whose memory the guard has changed. The policy
 * `levee-guard-changes-memory-only` reads it: without it no memory goes down.
 */
const prefix = "memory-before.levee.dev/";
/** An annotation has no empty words between its spaces. */
const none = "-";

/** What a container had before the guard raised its memory, and what the guard gave it. Quantities; empty when absent. */
export interface MemoryMark {
  /** A DaemonSet of the same name that took its place has another one. */
  readonly uid: string;
  readonly beforeLimit: string;
  readonly beforeRequest: string;
  readonly limit: string;
  readonly request: string;
  /** RFC 3339. */
  readonly at: string;
  /** The highest use that was seen before a lowering; empty after a raise. */
  readonly seen: string;
}

export function markKey(container: string): string {
  return `${prefix}${container}`;
}

export function printMark({ uid, beforeLimit, beforeRequest, limit, request, at, seen }: MemoryMark): string {
  return [uid, beforeLimit, beforeRequest, limit, request, at, seen].map((part) => part || none).join(" ");
}

/** UID, two quantities, two more, a time, one more quantity. */
const words =
  /^(?<uid>[^\s-]\S*) (?<beforeLimit>\d\S*) (?<beforeRequest>\S+) (?<limit>\d\S*) (?<request>\S+) (?<at>\d{4}-\S+Z) (?<seen>\S+)$/u;

/** Undefined for a text that no guard has written. */
export function parseMark(text: string): MemoryMark | undefined {
  const found = words.exec(text)?.groups;
  if (found === undefined) return undefined;
  const word = (name: keyof MemoryMark): string => (found[name] === none ? "" : (found[name] ?? ""));
  return {
    uid: word("uid"),
    beforeLimit: word("beforeLimit"),
    beforeRequest: word("beforeRequest"),
    limit: word("limit"),
    request: word("request"),
    at: word("at"),
    seen: word("seen"),
  };
}

interface MarkedObject {
  readonly uid: string;
  readonly container: string;
  /** As they are now. */
  readonly limit: string;
  readonly request: string;
}

/** The mark of a container, if it is about this very object and nobody has changed the values since. */
export function standingMark(
  annotations: unknown,
  { uid, container, limit, request }: MarkedObject,
): MemoryMark | undefined {
  const mark = parseMark(textOf(objectOf(annotations)[markKey(container)]));
  const isOurs = mark !== undefined && mark.uid === uid && mark.limit === limit && mark.request === request;
  return isOurs ? mark : undefined;
}
