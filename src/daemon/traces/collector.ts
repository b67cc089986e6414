import { deadline, type Clock } from "../../base/clock.ts";
import { oneLine } from "../../base/plain-text.ts";
import { firstChars } from "../../base/short-text.ts";
import { Exchange } from "../../kube/client/exchange.ts";
import type { ResponseHead } from "../../kube/client/response-parser.ts";
import type { CollectorAccess } from "./collector-access.ts";

/** A collector on the node answers in milliseconds. One that takes longer than this is as good as away. */
const answerMsMax = 10_000;
/** An answer has a few words. */
const answerBytesMax = 16_384;
/** A collector that asks for a longer pause would make the traces worthless. */
const pauseMsMax = 300_000;
const reasonCharsMax = 200;

/** What became of a batch. */
export type Delivery =
  | { readonly what: "taken"; readonly rejectedSpans: number; readonly why: string }
  /** Worth another try. */
  | { readonly what: "later"; readonly afterMs: number | undefined; readonly why: string }
  | { readonly what: "refused"; readonly why: string };

/** Statuses after which OTLP lets a client try again. */
const laterStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A receiver of OTLP over HTTP. */
export class Collector {
  readonly #clock: Clock;
  readonly #exchange: Exchange;
  readonly #access: CollectorAccess;

  constructor(endpoint: string, access: CollectorAccess, clock: Clock) {
    this.#clock = clock;
    this.#access = access;
    this.#exchange = new Exchange(endpoint);
  }

  /** Never rejects. */
  async send(body: string): Promise<Delivery> {
    const late = (): Error => new Error(`no answer within ${answerMsMax} ms`);
    using limit = deadline(this.#clock, answerMsMax, late);
    try {
      const { fields, tls } = await this.#access.read();
      const request = { method: "POST", path: "", body, fields } as const;
      const response = await this.#exchange.send(request, { token: undefined, tls }, limit.signal);
      return verdict(response.head, await response.text(answerBytesMax), this.#clock);
    } catch (thrown) {
      const cause: unknown = limit.signal.aborted ? limit.signal.reason : thrown;
      return { what: "later", afterMs: undefined, why: short(cause instanceof Error ? cause.message : String(cause)) };
    } finally {
      // Batches are seconds apart: an open connection would only take memory.
      this.#exchange.dropIdle();
    }
  }

  close(): void {
    this.#exchange.close();
  }
}

function verdict({ status, retryAfter }: ResponseHead, body: string, clock: Clock): Delivery {
  if (laterStatuses.has(status)) return { what: "later", afterMs: pauseMs(retryAfter, clock), why: `status ${status}` };
  if (status !== 200) return { what: "refused", why: short(`status ${status}: ${body}`) };
  return body.trim() === "" ? { what: "taken", rejectedSpans: 0, why: "" } : taken(body);
}

/** `{}`, or what the collector did not like. A web page with status 200 comes from another program. */
function taken(body: string): Delivery {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return { what: "refused", why: short(`status 200, but the answer is not of OTLP: ${body}`) };
  }
  const partial = memberOf(answer, "partialSuccess");
  const rejected = Number(memberOf(partial, "rejectedSpans") ?? 0);
  const why = memberOf(partial, "errorMessage");
  return {
    what: "taken",
    rejectedSpans: Number.isSafeInteger(rejected) && rejected > 0 ? rejected : 0,
    why: typeof why === "string" ? short(why) : "",
  };
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

/** `Retry-After` is a number of seconds or a date. */
function pauseMs(retryAfter: string | undefined, clock: Clock): number | undefined {
  if (retryAfter === undefined) return undefined;
  const isDate = retryAfter.endsWith("GMT");
  const ms = isDate ? Date.parse(retryAfter) - clock.wallMs() : Number(retryAfter) * 1_000;
  return Number.isFinite(ms) && (isDate || ms >= 0) ? Math.min(Math.max(ms, 0), pauseMsMax) : undefined;
}

/** The words of a stranger. */
function short(text: string): string {
  return oneLine(firstChars(text, reasonCharsMax));
}
