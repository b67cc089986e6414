import type { FollowableApi } from "../client/api.ts";
import { parseListed, parsePage } from "./list-pages.ts";

/** The server answers from memory, and ends every request after a minute. */
const silentMs = 60_000;

interface CachedListOptions {
  readonly api: FollowableApi;
  /** Without a query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** A resourceVersion that the list must have seen. Without one, the server answers with what it has. */
  readonly notOlderThan: string | undefined;
}

/**
 * Calls `onItem` for each object of a list from the server's watch cache, and resolves with its resourceVersion. Without a
 * resourceVersion, or with a limit, a server before 1.31 reads etcd instead; for the pods of one node it then reads those
 * of all nodes.
 */
export async function listCached(options: CachedListOptions, onItem: (item: unknown) => void): Promise<string> {
  const { api, path, query, signal, notOlderThan = "0" } = options;
  let parameters: Readonly<Record<string, string>> = {
    ...query,
    resourceVersion: notOlderThan,
    resourceVersionMatch: "NotOlderThan",
  };
  for (;;) {
    const url = `${path}?${new URLSearchParams(parameters).toString()}`;
    const take = (text: string): void => onItem(parseListed(path, text));
    const frame = parsePage(path, await api.items(url, { signal, idleMs: silentMs }, take));
    if (frame.position === "") return frame.resourceVersion;
    // No limit was asked for, but a proxy may have one of its own.
    parameters = { ...query, continue: frame.position };
  }
}
