import { describe, expect, test } from "bun:test";
import { LeveeError } from "../../base/errors.ts";
import { CallMetrics } from "./call-metrics.ts";
import { MetricsRegistry } from "./metrics-registry.ts";

describe("MetricsRegistry", () => {
  test("prints counters, gauges and histograms in the text format", () => {
    const metrics = new MetricsRegistry();
    const calls = metrics.counter("calls_total", "Calls", ["verb"]);
    calls.add(["ADD"]);
    calls.add(["ADD"], 2);
    metrics.gauge("size", "Size", () => 7);
    metrics.gauge("by_name", "Names", () => [{ labels: { name: 'a"b\\c\n' }, value: 1 }]);
    const seconds = metrics.histogram("seconds", "Time", [0.1, 1], ["verb"]);
    for (const value of [0.05, 0.1, 0.5, 3]) seconds.observe(value, ["ADD"]);
    expect(metrics.render()).toBe(
      [
        "# HELP calls_total Calls",
        "# TYPE calls_total counter",
        'calls_total{verb="ADD"} 3',
        "# HELP size Size",
        "# TYPE size gauge",
        "size 7",
        "# HELP by_name Names",
        "# TYPE by_name gauge",
        'by_name{name="a\\"b\\\\c\\n"} 1',
        "# HELP seconds Time",
        "# TYPE seconds histogram",
        'seconds_bucket{verb="ADD",le="0.1"} 2',
        'seconds_bucket{verb="ADD",le="1"} 3',
        'seconds_bucket{verb="ADD",le="+Inf"} 4',
        'seconds_sum{verb="ADD"} 3.65',
        'seconds_count{verb="ADD"} 4',
        "",
      ].join("\n"),
    );
  });

  test("bounds the number of series", () => {
    const metrics = new MetricsRegistry();
    const calls = metrics.counter("calls_total", "Calls", ["network"]);
    const seconds = metrics.histogram("seconds", "Time", [1], ["network"]);
    for (let index = 0; index < 1_500; index += 1) {
      calls.add([String(index)]);
      seconds.observe(1, [String(index)]);
    }
    const lines = metrics.render().split("\n");
    expect(lines.filter((line) => line.startsWith("calls_total{"))).toHaveLength(1_000);
    expect(lines.filter((line) => line.startsWith("seconds_count{"))).toHaveLength(200);
  });

  test("refuses a name that is taken", () => {
    const metrics = new MetricsRegistry();
    metrics.gauge("size", "Size", () => 1);
    expect(() => metrics.counter("size", "Size")).toThrow("size twice");
  });
});

describe("CallMetrics", () => {
  test("counts a call under its verb and code, and as a request as Multus counts it", () => {
    const metrics = new MetricsRegistry();
    const measures = new CallMetrics(metrics);
    const shim = "levee-shim 0.1.0";
    measures.called({ verb: "ADD", admissionClass: "critical", tookMs: 20, shim, error: undefined });
    const error = new LeveeError("env-invalid", "no");
    measures.called({ verb: "\u0000strange", admissionClass: undefined, tookMs: 1, shim: "x", error });
    const text = metrics.render();
    expect(text).toContain('levee_calls_total{verb="ADD",class="critical",code="ok"} 1\n');
    expect(text).toContain('levee_calls_total{verb="other",class="none",code="env-invalid"} 1\n');
    expect(text).toContain('levee_call_seconds_bucket{verb="ADD",le="0.025"} 1\n');
    expect(text).toContain('multus_server_request_total{handler="/cni",code="200",method="post"} 1\n');
    expect(text).toContain('multus_server_request_total{handler="/cni",code="400",method="post"} 1\n');
    expect(measures.shimSoftware).toBe("x");
  });

  test("groups plugins beyond the thirty-second under one name", () => {
    const metrics = new MetricsRegistry();
    const measures = new CallMetrics(metrics);
    for (let index = 0; index < 40; index += 1)
      measures.ran({
        verb: "ADD",
        link: { type: `p${index}` },
        outcome: { wallUs: 2_000, cpuUs: 0, maxRssKib: 1 },
      } as never);
    const text = metrics.render();
    expect(text).toContain('levee_delegate_seconds_count{plugin="p31",verb="ADD"} 1\n');
    expect(text).toContain('levee_delegate_seconds_count{plugin="other",verb="ADD"} 8\n');
  });
});
