import { tooLargeReason } from "../client/api-client.ts";
import { KubeError } from "../client/api.ts";
import { objectOf, textOf, type JsonObject } from "../client/json-fields.ts";
import { statusEventError } from "../client/refusal.ts";

/** One line of a watch. An ERROR event is thrown instead. */
export interface WatchEvent {
  readonly type: "put" | "delete" | "bookmark";
  readonly object: JsonObject;
  /** Where a watch continues after this event. */
  readonly resourceVersion: string;
}

const types: Readonly<Record<string, WatchEvent["type"]>> = {
  ADDED: "put",
  MODIFIED: "put",
  DELETED: "delete",
  BOOKMARK: "bookmark",
};

/** A line that cannot be read is an error and never skipped: it may be the event that matters. */
export function parseWatchEvent(doing: string, line: string): WatchEvent {
  const event = objectOf(parseLine(doing, line));
  const word = textOf(event["type"]);
  if (word === "ERROR") throw statusEventError(doing, event["object"]);
  const type = types[word];
  const object = objectOf(event["object"]);
  const resourceVersion = textOf(objectOf(object["metadata"])["resourceVersion"]);
  if (type === undefined || resourceVersion === "")
    throw unreadable(`Cannot ${doing}: an event has an unknown form: ${line.slice(0, 100)}`);
  return { type, object, resourceVersion };
}

function parseLine(doing: string, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw unreadable(`Cannot ${doing}: a line is not JSON: ${line.slice(0, 100)}`, cause);
  }
}

/** Whether a watch ended with a line that cannot be read. */
export function isUnreadable(thrown: unknown): boolean {
  return thrown instanceof KubeError && (thrown.reason === unreadableReason || thrown.reason === tooLargeReason);
}

const unreadableReason = "UnreadableEvent";

function unreadable(message: string, cause?: unknown): KubeError {
  return new KubeError("api-unreachable", message, { reason: unreadableReason, cause });
}
