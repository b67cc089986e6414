import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { FollowableApi } from "../client/api.ts";
import type { Named } from "./object-store.ts";

/** The resource that a reflector follows, and the fields it keeps. */
export interface ReflectorOptions<T extends Named> {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Its name, for messages and metrics. */
  readonly resource: string;
  /** Without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Whether the server keeps the resource in memory, as it does with all but events; then a quiet watch has bookmarks. */
  readonly isCached?: boolean;
  /** Every node has one, so that they must not all come back to the server at once. */
  readonly isOneOfMany?: boolean;
  /** Returns the needed fields of an object; undefined for one that cannot be used. */
  readonly project: (object: unknown) => T | undefined;
  readonly isSame: (left: T, right: T) => boolean;
}
