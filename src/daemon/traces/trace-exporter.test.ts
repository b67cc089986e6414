import { beforeEach, describe, expect, test } from "bun:test";
import { silentLogger, type LogFields } from "../../base/log.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Delivery } from "./collector.ts";
import type { Span } from "./span.ts";
import { TraceExporter } from "./trace-exporter.ts";
import type { QueuedTrace } from "./trace-queue.ts";

const taken: Delivery = { what: "taken", rejectedSpans: 0, why: "" };
const away: Delivery = { what: "later", afterMs: undefined, why: "ECONNREFUSED" };

let clock: ManualClock;
let metrics: MetricsRegistry;
let said: string[];
let bodies: string[];
/** What the collector answers; undefined for one that never does. */
let answers: Delivery | undefined;
let closed: number;

beforeEach(() => {
  clock = new ManualClock();
  metrics = new MetricsRegistry();
  [said, bodies, answers, closed] = [[], [], taken, 0];
});

function exporter(): TraceExporter {
  const say = (message: string, fields: LogFields = {}): void => void said.push(`${message} ${JSON.stringify(fields)}`);
  const collector = {
    send: (body: string): Promise<Delivery> => {
      bodies.push(body);
      return answers === undefined ? new Promise(() => undefined) : Promise.resolve(answers);
    },
    close: () => void (closed += 1),
  };
  const logger = { ...silentLogger, info: say, warn: say };
  return new TraceExporter({
    clock,
    logger,
    metrics,
    collector,
    nodeName: "n1",
    endpoint: "http://c.example/v1/traces",
  });
}

function trace(name: string, spans = 1, isFailure = false): QueuedTrace {
  const span: Span = {
    traceId: "1".repeat(32),
    spanId: "2".repeat(16),
    parentSpanId: "",
    traceState: "",
    name,
    kind: "server",
    startMs: 1,
    endMs: 2,
    attributes: {},
    failure: undefined,
  };
  return { spans: Array.from({ length: spans }, () => span), isFailure };
}

function metric(line: string): string | undefined {
  return metrics
    .render()
    .split("\n")
    .find((text) => text.startsWith(line))
    ?.slice(line.length + 1);
}

describe("TraceExporter", () => {
  test("tells since when the collector takes nothing, why, and how many are lost", async () => {
    const traces = exporter();
    answers = away;
    traces.add(trace("a"));
    await clock.advance(1_000);
    expect(traces.facts()).toMatchObject({ trouble: "ECONNREFUSED", sent: 0, dropped: 0, waiting: 1, forMs: 0 });
    answers = { what: "refused", why: "status 401" };
    await clock.advance(5_000);
    expect(traces.facts()).toMatchObject({ trouble: "status 401", dropped: 1, waiting: 0, forMs: 5_000 });
    answers = taken;
    traces.add(trace("b"));
    await clock.advance(1_000);
    expect(traces.facts()).toMatchObject({ trouble: undefined, sent: 1, dropped: 1, forMs: 0 });
  });

  test("sends nothing at once, and several calls in one request a second later", async () => {
    const traces = exporter();
    traces.add(trace("a"));
    traces.add(trace("b"));
    await clock.advance(999);
    expect(bodies).toEqual([]);
    await clock.advance(1);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain('"name":"b"');
    expect(metric("levee_traces_sent_total")).toBe("2");
    expect(metric("levee_traces_waiting")).toBe("0");
    // An idle daemon has no timer for it.
    expect(clock.timers).toBe(0);
  });

  test("sends a long queue in batches, one a second", async () => {
    const traces = exporter();
    for (let at = 0; at < 10; at += 1) traces.add(trace(`t${at}`, 100));
    await clock.advance(1_000);
    expect(bodies).toHaveLength(1);
    await clock.advance(1_000);
    expect(bodies).toHaveLength(2);
    await clock.advance(1_000);
    expect(metric("levee_traces_sent_total")).toBe("10");
  });

  test("one request at a time, while the queue stays within its limit", async () => {
    answers = undefined;
    const traces = exporter();
    traces.add(trace("a"));
    await clock.advance(1_000);
    for (let at = 0; at < 1_600; at += 1) traces.add(trace("b"));
    await clock.advance(60_000);
    expect(bodies).toHaveLength(1);
    expect(metric("levee_traces_waiting")).toBe("1500");
    expect(metric('levee_traces_dropped_total{reason="full"}')).toBe("100");
  });
});

describe("TraceExporter with a collector that does not take them", () => {
  test("a collector that is away is tried at longer and longer intervals, and the log says it once", async () => {
    answers = away;
    clock.chance = 0.999;
    const traces = exporter();
    traces.add(trace("a"));
    await clock.advance(600_000);
    const tries = bodies.length;
    expect(tries).toBeGreaterThan(10);
    expect(tries).toBeLessThan(20);
    expect(said).toEqual([
      'The collector does not take traces; calls go on without {"tracesEndpoint":"http://c.example/v1/traces","reason":"ECONNREFUSED"}',
    ]);
    answers = taken;
    await clock.advance(61_000);
    expect(bodies.at(-1)).toBe(bodies[0] ?? "");
    expect(said.slice(1)).toEqual(['The collector takes traces again {"dropped":0}']);
    expect(metric("levee_traces_sent_total")).toBe("1");
    expect(clock.timers).toBe(0);
  });

  test("a collector that asks for a pause gets it", async () => {
    answers = { what: "later", afterMs: 30_000, why: "status 429" };
    const traces = exporter();
    traces.add(trace("a"));
    await clock.advance(1_000);
    answers = taken;
    traces.add(trace("b"));
    await clock.advance(29_999);
    expect(bodies).toHaveLength(1);
    await clock.advance(1);
    expect(bodies).toHaveLength(2);
    expect(bodies[1]).toContain('"name":"b"');
  });

  test("a refused batch is dropped and counted, and the next one is sent", async () => {
    answers = { what: "refused", why: "status 400: no" };
    const traces = exporter();
    traces.add(trace("a"));
    await clock.advance(1_000);
    expect(metric('levee_traces_dropped_total{reason="refused"}')).toBe("1");
    answers = taken;
    traces.add(trace("b"));
    await clock.advance(1_000);
    expect(bodies).toHaveLength(2);
    expect(said).toHaveLength(2);
  });

  test("says which spans the collector rejected", async () => {
    answers = { what: "taken", rejectedSpans: 2, why: "too old" };
    exporter().add(trace("a"));
    await clock.advance(1_000);
    expect(said.join()).toContain("it rejected 2 spans: too old");
  });
});

describe("TraceExporter at an orderly stop", () => {
  test("an orderly stop sends what waits", async () => {
    const traces = exporter();
    for (let at = 0; at < 10; at += 1) traces.add(trace("a", 100));
    await traces.stop();
    expect(bodies).toHaveLength(3);
    expect(closed).toBe(1);
  });

  test("an orderly stop waits two seconds for a collector that hangs, and not at all for one that is away", async () => {
    answers = undefined;
    const hangs = exporter();
    hangs.add(trace("a"));
    hangs.add(trace("b", 400));
    let isStopped = false;
    const stopping = hangs.stop().then(() => (isStopped = true));
    await clock.advance(1_999);
    expect(isStopped).toBe(false);
    await clock.advance(1);
    await stopping;
    expect(metric('levee_traces_dropped_total{reason="ended"}')).toBe("2");

    metrics = new MetricsRegistry();
    answers = away;
    const gone = exporter();
    gone.add(trace("a"));
    await clock.advance(1_000);
    await gone.stop();
    expect(metric('levee_traces_dropped_total{reason="ended"}')).toBe("1");
  });
});
