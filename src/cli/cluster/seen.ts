import { KubeError, kubeStatusOf, type KubeApi } from "../../kube/client/api.ts";
import { listPages } from "../../kube/watch/list-pages.ts";
import { toFailure } from "../failure.ts";

/** A part of the cluster, or why it could not be read. */
export type Seen<T> = { readonly value: T } | Unseen;

export interface Unseen {
  readonly why: string;
  /** HTTP status of the refusal; undefined if the API server did not answer. */
  readonly status: number | undefined;
}

export interface Asking {
  readonly api: KubeApi;
  readonly signal: AbortSignal;
}

/** A page of whole pods stays below the client's limit. */
const pageItems = 200;
const requestMs = 30_000;

export async function see<T>({ signal }: Asking, look: () => Promise<T>): Promise<Seen<T>> {
  try {
    return { value: await look() };
  } catch (thrown) {
    signal.throwIfAborted();
    // Any other error is a bug, not a state of the cluster.
    if (!(thrown instanceof KubeError)) throw thrown;
    return { why: toFailure(thrown).message, status: thrown.status };
  }
}

/** Lists objects through `project`. A list of an unknown kind is empty. */
export function seeList<T>(
  asking: Asking,
  path: string,
  project: (item: unknown) => T | undefined,
): Promise<Seen<readonly T[]>> {
  return see(asking, async () => {
    const found: T[] = [];
    const [folder = "", query = ""] = path.split("?");
    const options = { ...asking, path: folder, query: Object.fromEntries(new URLSearchParams(query)), pageItems };
    try {
      await listPages(options, (item) => {
        const projected = project(item);
        if (projected !== undefined) found.push(projected);
      });
    } catch (thrown) {
      if (kubeStatusOf(thrown) !== 404) throw thrown;
    }
    return found;
  });
}

/** One object, or undefined when there is none. */
export function seeObject(asking: Asking, path: string, deadlineMs?: number): Promise<Seen<unknown>> {
  return see(asking, async () => {
    try {
      return JSON.parse(await seeText(asking, path, deadlineMs)) as unknown; // looked at field by field
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return undefined;
      throw thrown;
    }
  });
}

export function seeText({ api, signal }: Asking, path: string, deadlineMs: number = requestMs): Promise<string> {
  return api.call({ method: "GET", path, deadlineMs, signal });
}

export function valueOr<T>(seen: Seen<T>, otherwise: T): T {
  return "value" in seen ? seen.value : otherwise;
}
