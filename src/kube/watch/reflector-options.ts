import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../client/api.ts";
import type { Named } from "./object-store.ts";

/** The resource that a reflector follows, and the fields it keeps. */
export interface ReflectorOptions<T extends Named> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Its name, for messages and metrics. */
  readonly resource: string;
  /** Without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Objects in one page of a list; few by default, because the daemon has little memory. */
  readonly pageItems?: number;
  /** Whether the server sends bookmarks on a quiet watch. For events it sends none, because it does not cache them. */
  readonly hasBookmarks?: boolean;
  /** Returns the needed fields of an object; undefined for one that cannot be used. */
  readonly project: (object: unknown) => T | undefined;
  readonly isSame: (left: T, right: T) => boolean;
}
