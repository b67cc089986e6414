import type { Clock } from "../../base/clock.ts";

/** A span that others may be children of, as W3C's `traceparent` names it. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Its trace is recorded. */
  readonly isSampled: boolean;
}

/** Version 00, or the beginning of a later one. */
const parentPattern = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/u;
const sampledFlag = 1;

/** Undefined for a text of another form. The shim has looked at it, but another peer may send anything. */
export function parseTraceParent(text: string): TraceContext | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = parentPattern.exec(text) ?? [];
  if (version === undefined || (version === "00" && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

export function traceParentOf({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

const uidPattern = /^(?!0{32}$)[\da-f]{32}$/u;

/**
 * A pod's UID is 128 bits, as a trace's ID is. The kubelet's UID of a static pod has no dashes. A container's ID has
 * 256 bits, of which the first half is as unique. Undefined for other texts.
 */
export function traceIdOf(id: string): string | undefined {
  const digits = id.replaceAll("-", "").toLowerCase().slice(0, 32);
  return uidPattern.test(digits) ? digits : undefined;
}

/** One variable of CNI_ARGS. Never throws: a trace must not fail a call. */
export function argIn(cniArgs: string, key: string): string | undefined {
  const pair = cniArgs.split(";").find((text) => text.startsWith(`${key}=`) && text.length > key.length + 1);
  return pair?.slice(key.length + 1);
}

export function newSpanId(clock: Pick<Clock, "randomBytes">): string {
  return hexOf(clock.randomBytes(8));
}

export function newTraceId(clock: Pick<Clock, "randomBytes">): string {
  return hexOf(clock.randomBytes(16));
}

/** The last bit is set, because an ID of zeros means none. */
function hexOf(bytes: Uint8Array): string {
  const copy = Buffer.from(bytes);
  copy[copy.length - 1] = (copy.at(-1) ?? 0) | 1;
  return copy.toString("hex");
}
