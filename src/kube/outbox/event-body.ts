import { firstChars } from "../../base/short-text.ts";

/** The object that an event is about. */
export interface EventObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for an object without a namespace. Its events are kept in `default`. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** As `kubectl describe` shows it. Where Multus has the same event, its reason and its text are kept. */
export interface EventText {
  readonly type: "Normal" | "Warning";
  /** CamelCase, for machines. */
  readonly reason: string;
  readonly message: string;
}

interface EventCounts {
  readonly count: number;
  readonly firstWallMs: number;
  readonly lastWallMs: number;
}

export interface EventSource {
  readonly component: string;
  /** The node. */
  readonly host: string;
}

export interface EventIdentity {
  readonly namespace: string;
  readonly name: string;
}

/** The limit of events.k8s.io. core/v1 describes the same objects and has no limit. */
const messageBytesMax = 1_024;
/** An object's name may have 253 characters, and the event's name has a dot and 16 more. */
const nameCharsMax = 236;

export function eventNamespace(about: EventObject): string {
  return about.namespace === "" ? "default" : about.namespace;
}

/** Random and readable: it begins with the object's name, as the names of all events do. */
export function eventName(about: EventObject, random: Uint8Array): string {
  // A label of the name must not end in these characters.
  const name = about.name.slice(0, nameCharsMax).replace(/[-.]+$/u, "");
  return `${name}.${Buffer.from(random).toString("hex")}`;
}

/** As much of a message as an event may have: the name of a missing network may take a quarter of a megabyte. */
export function eventMessage(message: string): string {
  const text = firstChars(message, messageBytesMax);
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= messageBytesMax) return text;
  // The half of a split character is removed.
  return bytes
    .subarray(0, messageBytesMax)
    .toString("utf8")
    .replace(/\uFFFD+$/u, "");
}

/** A core/v1 Event in the form that `kubectl describe` finds and counts. */
export function eventBody(
  identity: EventIdentity,
  about: EventObject,
  text: EventText,
  facts: { readonly source: EventSource; readonly counts: EventCounts },
): string {
  const { source, counts } = facts;
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: identity.namespace, name: identity.name },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      ...(about.namespace === "" ? {} : { namespace: about.namespace }),
      name: about.name,
      ...(about.uid === "" ? {} : { uid: about.uid }),
    },
    type: text.type,
    reason: text.reason,
    message: text.message,
    source,
    reportingComponent: source.component,
    reportingInstance: source.host,
    firstTimestamp: stamp(counts.firstWallMs),
    ...countsBody(counts),
  });
}

/** For a repeated event: only the count and the last time change. */
export function eventCountBody(counts: EventCounts): string {
  return JSON.stringify(countsBody(counts));
}

function countsBody({ count, lastWallMs }: EventCounts): { count: number; lastTimestamp: string } {
  return { count, lastTimestamp: stamp(lastWallMs) };
}

/** Whole seconds, as in Kubernetes' Time. */
function stamp(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/\.\d+Z$/u, "Z");
}
