import { KubeError } from "../client/api.ts";

/**
 * What a failed delivery means. `ended`: there is nobody to tell any more. `refused`: the server will not take this one,
 * now or later. `later`: only this one must wait. `away`: nothing can be delivered now, so everything waits.
 */
export interface Verdict {
  readonly what: "ended" | "refused" | "later" | "away";
  /** What the server asked for. */
  readonly afterMs?: number | undefined;
  /** Somebody must change something before it works: worth a line in the log. */
  readonly isWrong?: boolean;
}

/** For a pod's annotation: it is wanted as long as the pod is there, so a missing permission is waited out. */
export function judgeStatus(thrown: unknown): Verdict {
  const error = answered(thrown);
  if (error === undefined) return judgeSilence(thrown);
  if (error.status === 404 || isOtherUid(error)) return { what: "ended" };
  if (error.status === 403) return { what: "later", afterMs: error.retryAfterMs, isWrong: true };
  return judgeAnswer(error);
}

/** For an event: it is worth a trial while the server is there. A namespace that is being deleted refuses it with 403. */
export function judgeEvent(thrown: unknown): Verdict {
  const error = answered(thrown);
  if (error === undefined) return judgeSilence(thrown);
  if (error.status === 404) return { what: "ended" };
  if (error.status === 403) return { what: "refused", isWrong: !error.message.includes("being terminated") };
  return judgeAnswer(error);
}

function answered(thrown: unknown): (KubeError & { readonly status: number }) | undefined {
  return thrown instanceof KubeError && thrown.status !== undefined
    ? (thrown as KubeError & { readonly status: number }) // the status was looked at just now
    : undefined;
}

/** No answer came. What is no error of the API at all is a defect, and trying again would not mend it. */
function judgeSilence(thrown: unknown): Verdict {
  return thrown instanceof KubeError
    ? { what: "away", afterMs: thrown.retryAfterMs }
    : { what: "refused", isWrong: true };
}

/**
 * A pod of the same name that is another one. The server checks the UID of a patch as an immutable field (422) or as a
 * precondition (409), by its version. Names have no capitals, so no name can look like this.
 */
function isOtherUid({ status, message }: KubeError): boolean {
  return (status === 409 || status === 422) && /\bUID\b|metadata\.uid: /u.test(message);
}

/** The server or something before it is busy or has lost our token: everybody waits. */
const awayStatuses: ReadonlySet<number> = new Set([401, 408, 429, 502, 503, 504]);

function judgeAnswer(error: KubeError & { readonly status: number }): Verdict {
  const { status, retryAfterMs: afterMs } = error;
  if (awayStatuses.has(status)) return { what: "away", afterMs, isWrong: status === 401 };
  // A conflict is another writer at the same moment; a 500 may be a webhook's that concerns this object only.
  if (status === 409 || status >= 500) return { what: "later", afterMs };
  return { what: "refused", isWrong: true };
}
