import { KubeError, type KubeApi } from "../client/api.ts";
import { tooLargeReason } from "../client/api-client.ts";
import { isObject, objectOf, textOf } from "../client/json-fields.ts";

/** 3,000 pods in pages of 500 take 110 MiB at the peak, in pages of 50 they take 65 MiB. */
const pageItems = 50;
/** For one page. The server's own limit is a minute. */
const pageDeadlineMs = 60_000;
/** 5 million objects. It ends the list of a server whose continue token leads in a circle. */
const pagesMax = 100_000;

interface ListOptions {
  readonly api: KubeApi;
  /** Without a query. */
  readonly path: string;
  /** Further parameters of the query, such as a field selector. */
  readonly query: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Objects in one answer; 50 by default. */
  readonly pageItems?: number | undefined;
}

/**
 * Calls `onItem` for each object of a complete list and resolves with the list's resourceVersion. The list is the newest
 * there is. Older servers read it from etcd, so whoever lists often uses `listCached`.
 */
export async function listPages(options: ListOptions, onItem: (item: unknown) => void): Promise<string> {
  let position = "";
  let items = options.pageItems ?? pageItems;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    try {
      const page = await readPage(options, items, position);
      for (const item of page.items) onItem(item);
      if (page.position === "") return page.resourceVersion;
      position = page.position;
    } catch (thrown) {
      // The objects are unusually large: read the same place again, in smaller pages.
      if (!isTooLarge(thrown) || items === 1) throw thrown;
      items = Math.ceil(items / 10);
    }
  }
  throw new KubeError("api-unreachable", `Cannot list ${options.path}: the list has not ended after ${pagesMax} pages`);
}

interface Page {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** Where the next page begins; empty after the last. */
  readonly position: string;
}

async function readPage({ api, path, query, signal }: ListOptions, items: number, position: string): Promise<Page> {
  const parameters = new URLSearchParams({ ...query, limit: String(items) });
  if (position !== "") parameters.set("continue", position);
  const text = await api.call({
    method: "GET",
    path: `${path}?${parameters.toString()}`,
    deadlineMs: pageDeadlineMs,
    signal,
  });
  return parsePage(path, text);
}

/** Also reads a list whose items were taken out. */
export function parsePage(path: string, text: string): Page {
  const list = parseListed(path, text);
  const metadata = objectOf(objectOf(list)["metadata"]);
  const resourceVersion = textOf(metadata["resourceVersion"]);
  if (!isObject(list) || resourceVersion === "")
    throw new KubeError("api-unreachable", `Cannot list ${path}: the answer is not a list with a resourceVersion`);
  const items = list["items"];
  // An empty list may have null here.
  return { items: Array.isArray(items) ? items : [], resourceVersion, position: textOf(metadata["continue"]) };
}

export function parseListed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError("api-unreachable", `Cannot list ${path}: the answer is not JSON`, { cause });
  }
}

function isTooLarge(thrown: unknown): boolean {
  return thrown instanceof KubeError && thrown.reason === tooLargeReason;
}
