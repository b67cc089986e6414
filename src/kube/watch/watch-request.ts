import { kubeStatusOf } from "../client/api.ts";
import { objectOf } from "../client/json-fields.ts";
import type { Named } from "./object-store.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import type { WatchEvent } from "./watch-event.ts";

/** A watch ends after a random time, so that the watches of a thousand nodes do not end together. */
const watchSeconds = { min: 300, max: 600 };
/** Without bookmarks a watch ends before its silence could mean a dead connection. */
const silentWatchSeconds = { min: 60, max: 120 };

interface WatchPlace {
  /** Where the watch goes on; undefined when it is to begin with the whole list. */
  readonly position: string | undefined;
  /** The list must have seen this; any list will do when undefined. */
  readonly seen: string | undefined;
}

/** The address of a watch, and how long it is to last. */
export function watchRequest<T extends Named>(
  { clock, path, query, isCached = true }: ReflectorOptions<T>,
  { position, seen = "0" }: WatchPlace,
): { readonly url: string; readonly seconds: number } {
  const { min, max } = isCached ? watchSeconds : silentWatchSeconds;
  const seconds = Math.round(min + clock.random() * (max - min));
  const list = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", resourceVersion: seen };
  const parameters = new URLSearchParams({
    ...query,
    watch: "true",
    allowWatchBookmarks: "true",
    timeoutSeconds: String(seconds),
    ...(position === undefined ? list : { resourceVersion: position }),
  });
  return { url: `${path}?${parameters.toString()}`, seconds };
}

/** The bookmark between the list and the watch. */
export function isEndOfList({ type, object }: WatchEvent): boolean {
  const annotations = objectOf(objectOf(object["metadata"])["annotations"]);
  return type === "bookmark" && annotations["k8s.io/initial-events-end"] === "true";
}

/** Answers that say nothing about lists in a watch: a plain list would get them too. */
const otherRefusals: ReadonlySet<number> = new Set([401, 403, 404, 410, 429, 503, 504]);

/**
 * Whether the server cannot begin a watch with the list: most servers before 1.34 refuse that, and with an etcd before
 * 3.4.25 a newer one accepts it and then ends it with an error 500.
 */
export function isStreamRefused(thrown: unknown): boolean {
  const status = kubeStatusOf(thrown);
  return status !== undefined && !otherRefusals.has(status);
}
