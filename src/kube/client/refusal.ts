import { KubeError } from "./api.ts";

/** Longer than any API server asks for; a wrong clock on either side must not silence us for a day. */
const retryAfterMsMax = 300_000;
/** Enough to say what is wrong; a proxy's error page is not repeated. */
const messageCharsMax = 300;

export interface Refusal {
  /** What was being asked, for people: the method and the address without its query. */
  readonly doing: string;
  readonly status: number;
  /** The header of this name, as it was sent. */
  readonly retryAfter: string | undefined;
  readonly body: string;
  readonly wallMs: number;
}

/** An answer that is not 2xx as an error: Kubernetes' own words when the body is its Status object. */
export function refusalError(refusal: Refusal): KubeError {
  const { doing, status, retryAfter, body, wallMs } = refusal;
  const told = statusObject(body);
  const reason = textOf(told["reason"]);
  const words = textOf(told["message"]) || shortened(body);
  return new KubeError("api-refused", `Cannot ${doing}: the API server answered ${status} (${words || "no reason"})`, {
    status,
    reason,
    retryAfterMs: retryAfterMs(retryAfter, wallMs),
  });
}

/** The ERROR event of a watch carries a Status object as well. */
export function statusEventError(doing: string, status: unknown): KubeError {
  const told = isRecord(status) ? status : {};
  const code = typeof told["code"] === "number" ? told["code"] : 0;
  const reason = textOf(told["reason"]);
  const words = textOf(told["message"]) || reason || "no reason";
  const details = isRecord(told["details"]) ? told["details"]["retryAfterSeconds"] : undefined;
  return new KubeError("api-refused", `Cannot ${doing}: the API server ended the watch with ${code} (${words})`, {
    status: code,
    reason,
    retryAfterMs: typeof details === "number" ? bounded(details * 1000) : undefined,
  });
}

/** The place in history we asked for is not kept any more: only a new list helps. */
export function isGone(thrown: unknown): boolean {
  if (!(thrown instanceof KubeError)) return false;
  return thrown.status === 410 || thrown.reason === "Expired" || thrown.reason === "Gone";
}

/** Seconds or a date, as HTTP allows both. */
function retryAfterMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined || header === "") return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - wallMs;
  return Number.isFinite(ms) ? bounded(ms) : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, 0), retryAfterMsMax);
}

function statusObject(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) ? value : {};
  } catch {
    // A proxy in between answers with a page of its own; its text is shown instead.
    return {};
  }
}

function shortened(body: string): string {
  const line = body.replace(/\s+/g, " ").trim();
  return line.length > messageCharsMax ? `${line.slice(0, messageCharsMax)}…` : line;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? shortened(value) : "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
