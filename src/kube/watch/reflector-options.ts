import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../client/api.ts";
import type { Named } from "./object-store.ts";

/** What a reflector follows, and what it keeps of it. */
export interface ReflectorOptions<T extends Named> {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** For people and metrics. */
  readonly resource: string;
  /** Without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Objects in one answer of a list; few unless told, as a daemon has little memory. */
  readonly pageItems?: number;
  /** Whether the server says now and then that a quiet watch is alive; of events it does not, as it has no cache of them. */
  readonly hasBookmarks?: boolean;
  /** Keeps what is needed of an object; undefined for one that cannot be used. */
  readonly project: (object: unknown) => T | undefined;
  readonly isSame: (left: T, right: T) => boolean;
}
