import { KubeError } from "./api.ts";
import { objectOf, textOf, type JsonObject } from "./json-fields.ts";

/** Longer than any API server asks for. A wrong clock on either side must not cause a pause of a day. */
const retryAfterMsMax = 300_000;
/** Enough for the reason, and too short for a proxy's whole error page. */
const messageCharsMax = 300;

interface Refusal {
  /** The request, for messages: the method and the address without its query. */
  readonly doing: string;
  readonly status: number;
  /** The header as it was sent. */
  readonly retryAfter: string | undefined;
  readonly body: string;
  readonly wallMs: number;
}

/** Makes an error of an answer other than 2xx, with Kubernetes' own words when the body is a Status object. */
export function refusalError(refusal: Refusal): KubeError {
  const { doing, status, retryAfter, body, wallMs } = refusal;
  const told = statusObject(body);
  const reason = shortened(textOf(told["reason"]));
  const words = shortened(textOf(told["message"])) || shortened(body);
  return new KubeError("api-refused", `Cannot ${doing}: the API server answered ${status} (${words || "no reason"})`, {
    status,
    reason,
    retryAfterMs: retryAfterMs(retryAfter, wallMs),
  });
}

/** Makes an error of the ERROR event of a watch, which carries a Status object too. */
export function statusEventError(doing: string, status: unknown): KubeError {
  const told = objectOf(status);
  const code = typeof told["code"] === "number" ? told["code"] : 0;
  const reason = shortened(textOf(told["reason"]));
  const words = shortened(textOf(told["message"])) || reason || "no reason";
  const details = objectOf(told["details"])["retryAfterSeconds"];
  return new KubeError("api-refused", `Cannot ${doing}: the API server ended the watch with ${code} (${words})`, {
    status: code,
    reason,
    retryAfterMs: typeof details === "number" ? bounded(details * 1000) : undefined,
  });
}

/** The server no longer has the requested resourceVersion: only a new list helps. */
export function isGone(thrown: unknown): boolean {
  if (!(thrown instanceof KubeError)) return false;
  return thrown.status === 410 || thrown.reason === "Expired" || thrown.reason === "Gone";
}

/** HTTP allows seconds and a date. */
function retryAfterMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined || header === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - wallMs;
  return Number.isFinite(ms) ? bounded(ms) : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, 0), retryAfterMsMax);
}

function statusObject(body: string): JsonObject {
  try {
    return objectOf(JSON.parse(body));
  } catch {
    // A proxy answers with a page of its own. Its text is shown instead.
    return {};
  }
}

function shortened(body: string): string {
  const line = body.replace(/\s+/g, " ").trim();
  return line.length > messageCharsMax ? `${line.slice(0, messageCharsMax)}…` : line;
}
