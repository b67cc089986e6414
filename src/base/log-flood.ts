import type { Cancel, Clock } from "./clock.ts";
import type { LogFields, LogLevel } from "./log-level.ts";
import { lineShape, subjectFields } from "./log-shape.ts";

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** How often a sum is written. A storm lasts a few windows, and a person who watches does not wait long. */
const windowMs = 10_000;
/**
 * How many lines of one shape are written in a window. The first error says what the others say. A busy node starts two
 * pods a second, and a person reads no more lines than that.
 */
const linesMax: Readonly<Record<LogLevel, number>> = { debug: 20, info: 20, warn: 1, error: 1 };
/** A node logs about a dozen shapes at a time. Lines beyond this number are summed up by level. About 1 KiB each. */
const shapesMax = 64;
/** Pods named in a sum, so that a person can look one up with `levee why`. */
const podsMax = 5;
/** A sum has the least and the most of these fields. */
const spannedFields = ["tookMs", "waitedMs"] as const;

/** Lines of one shape in the present window. */
interface Flow {
  written: number;
  heldBack: number;
  sinceMs: number;
  last: LogLine;
  /** There were too many shapes, so all lines of one level share this flow. */
  readonly isMixed: boolean;
  readonly pods: Set<string>;
  /** Least and most of each spanned field, in the order of `spannedFields`. */
  readonly spans: Float64Array;
  stopTimer: Cancel;
}

/**
 * Keeps a storm out of the log. Of lines that say the same, the first is written at once; the others become one line
 * with their number at the end of the window. No count is lost: the sum of `times` is how often it happened.
 */
export class LogFlood {
  readonly #clock: Clock;
  readonly #write: (line: LogLine) => void;
  readonly #flows = new Map<string, Flow>();
  #summed = 0;

  constructor(clock: Clock, write: (line: LogLine) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Lines held back since the start. */
  get summed(): number {
    return this.#summed;
  }

  /** Whether to write the line now. If not, it becomes part of the next sum. */
  passes(line: LogLine): boolean {
    const shape = lineShape(line.level, line.message, line.fields);
    const isMixed = !this.#flows.has(shape) && this.#flows.size >= shapesMax;
    const key = isMixed ? line.level : shape;
    const flow = this.#flows.get(key) ?? this.#open(key, line, isMixed);
    if (flow.written < linesMax[line.level]) {
      flow.written += 1;
      return true;
    }
    this.#summed += 1;
    holdBack(flow, line);
    return false;
  }

  flush(): void {
    for (const flow of this.#flows.values()) {
      flow.stopTimer();
      this.#writeSum(flow);
    }
    this.#flows.clear();
  }

  #open(key: string, last: LogLine, isMixed: boolean): Flow {
    const flow: Flow = {
      written: 0,
      heldBack: 0,
      sinceMs: this.#clock.monotonicMs(),
      last,
      isMixed,
      pods: new Set(),
      spans: emptySpans(),
      stopTimer: this.#clock.after(windowMs, () => this.#close(key)),
    };
    this.#flows.set(key, flow);
    return flow;
  }

  /** A window that held nothing back is the last one. */
  #close(key: string): void {
    const flow = this.#flows.get(key);
    this.#flows.delete(key);
    if (flow === undefined || flow.heldBack === 0) return;
    this.#writeSum(flow);
    // The sum is a line of the next window: while a storm lasts, there is one per window.
    this.#open(key, flow.last, flow.isMixed).written = 1;
  }

  #writeSum(flow: Flow): void {
    if (flow.heldBack === 0) return;
    // A single line is written as it is.
    this.#write(flow.heldBack === 1 ? flow.last : sumOf(flow, this.#clock.monotonicMs()));
  }
}

function holdBack(flow: Flow, line: LogLine): void {
  flow.heldBack += 1;
  flow.last = line;
  const { namespace, pod } = line.fields;
  if (typeof pod === "string" && flow.pods.size < podsMax)
    flow.pods.add(typeof namespace === "string" ? `${namespace}/${pod}` : pod);
  for (const [index, name] of spannedFields.entries()) {
    const value = line.fields[name];
    if (typeof value !== "number") continue;
    flow.spans[2 * index] = Math.min(flow.spans[2 * index] ?? value, value);
    flow.spans[2 * index + 1] = Math.max(flow.spans[2 * index + 1] ?? value, value);
  }
}

function emptySpans(): Float64Array {
  return Float64Array.from(spannedFields.flatMap(() => [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]));
}

/** The last line without its subject, with the number of lines. */
function sumOf(flow: Flow, nowMs: number): LogLine {
  const { level, message, fields } = flow.last;
  const spanned: ReadonlySet<string> = new Set(spannedFields);
  const common = Object.entries(fields).filter(([name]) => !subjectFields.has(name) && !spanned.has(name));
  return {
    level,
    message: flow.isMixed ? `Lines of many kinds, the last: ${message}` : message,
    fields: {
      ...Object.fromEntries(common),
      times: flow.heldBack,
      withinMs: Math.round(nowMs - flow.sinceMs),
      ...spansOf(flow.spans),
      ...(flow.pods.size === 0 ? {} : { pods: [...flow.pods] }),
    },
  };
}

function spansOf(spans: Float64Array): LogFields {
  return Object.fromEntries(
    spannedFields.flatMap((name, index): [string, number][] => {
      const [least = Number.NaN, most = Number.NaN] = spans.subarray(2 * index);
      return Number.isFinite(least)
        ? [
            [`${name}Min`, least],
            [`${name}Max`, most],
          ]
        : [];
    }),
  );
}
