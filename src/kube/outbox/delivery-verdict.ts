import { KubeError } from "../client/api.ts";

/**
 * What a failed delivery means. `ended`: the object is gone. `refused`: the server will never take this letter. `later`:
 * only this letter must wait. `away`: nothing can be delivered now, so all letters wait.
 */
export interface DeliveryVerdict {
  readonly what: "ended" | "refused" | "later" | "away";
  /** The pause that the server asked for. */
  readonly afterMs?: number | undefined;
  /** A person must change something before it works, so it is logged. */
  readonly isWrong?: boolean;
}

/** For a pod's annotation. It is wanted while the pod exists, so the outbox waits for a missing permission. */
export function judgeStatus(thrown: unknown): DeliveryVerdict {
  const error = answered(thrown);
  if (error === undefined) return judgeSilence(thrown);
  if (error.status === 404 || isOtherUid(error)) return { what: "ended" };
  if (error.status === 403) return { what: "later", afterMs: error.retryAfterMs, isWrong: true };
  return judgeAnswer(error);
}

/** For an event. It is tried while the server answers. A namespace that is being deleted refuses it with 403. */
export function judgeEvent(thrown: unknown): DeliveryVerdict {
  const error = answered(thrown);
  if (error === undefined) return judgeSilence(thrown);
  if (error.status === 404) return { what: "ended" };
  if (error.status === 403) return { what: "refused", isWrong: !error.message.includes("being terminated") };
  return judgeAnswer(error);
}

/** For a claim's networkData. When the device's driver has written it, ours is not wanted, and a person should know. */
export function judgeNetworkData(thrown: unknown): DeliveryVerdict {
  const isOfDriver = thrown instanceof KubeError && thrown.status === 409 && thrown.message.includes("Apply failed");
  return isOfDriver ? { what: "refused", isWrong: true } : judgeStatus(thrown);
}

function answered(thrown: unknown): (KubeError & { readonly status: number }) | undefined {
  return thrown instanceof KubeError && thrown.status !== undefined
    ? (thrown as KubeError & { readonly status: number }) // the status is checked in the line above
    : undefined;
}

/** No answer came. Any error that is not the API's is a defect, and another attempt would not help. */
function judgeSilence(thrown: unknown): DeliveryVerdict {
  return thrown instanceof KubeError
    ? { what: "away", afterMs: thrown.retryAfterMs }
    : { what: "refused", isWrong: true };
}

/**
 * Another pod has the same name. Depending on its version, the server checks the UID of a patch as an immutable field
 * (422) or as a precondition (409). Names have no capitals, so no name matches the pattern.
 */
function isOtherUid({ status, message }: KubeError): boolean {
  return (status === 409 || status === 422) && /\bUID\b|metadata\.uid: /u.test(message);
}

/** The server, or a proxy in front of it, is busy or does not accept the token: all letters wait. */
const awayStatuses: ReadonlySet<number> = new Set([401, 408, 429, 502, 503, 504]);

function judgeAnswer(error: KubeError & { readonly status: number }): DeliveryVerdict {
  const { status, retryAfterMs: afterMs } = error;
  if (awayStatuses.has(status)) return { what: "away", afterMs, isWrong: status === 401 };
  // A conflict means another writer at the same moment. A 500 may come from a webhook about this object only.
  if (status === 409 || status >= 500) return { what: "later", afterMs };
  return { what: "refused", isWrong: true };
}
