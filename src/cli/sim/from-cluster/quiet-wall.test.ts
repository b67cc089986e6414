import { describe, expect, test } from "bun:test";
import type { Metric } from "../../../wire/metric-lines.ts";
import { quietWallsMs } from "./quiet-wall.ts";

interface Runs {
  readonly verb?: string;
  readonly sumS: number;
  /** How many runs ended within each bound. */
  readonly upTo: Readonly<Record<string, number>>;
}

/** The histogram of one plugin and verb on one node. */
function histogram({ verb = "ADD", sumS, upTo }: Runs): readonly Metric[] {
  const name = "levee_delegate_seconds";
  const labels = { plugin: "dhcp", verb };
  return [
    ...Object.entries(upTo).map(([le, value]) => ({ name: `${name}_bucket`, labels: { ...labels, le }, value })),
    { name: `${name}_sum`, labels, value: sumS },
    { name: `${name}_count`, labels, value: upTo["+Inf"] ?? 0 },
  ];
}

function wallMs(...nodes: readonly (readonly Metric[])[]): number | undefined {
  return quietWallsMs(nodes.flat()).get("dhcp");
}

describe("quietWallsMs", () => {
  test("takes the runs of a quiet node, also when most runs were part of a storm", () => {
    const storm = histogram({ sumS: 219, upTo: { "0.01": 0, "0.025": 0, "1": 110, "2.5": 219, "+Inf": 219 } });
    const quiet = histogram({ sumS: 2, upTo: { "0.01": 0, "0.025": 100, "1": 100, "2.5": 100, "+Inf": 100 } });
    const both = wallMs(storm, quiet) ?? 0;
    expect(both).toBeGreaterThanOrEqual(10);
    expect(both).toBeLessThanOrEqual(25);
  });

  test("takes the mean where it is shorter, as a bucket is wide", () => {
    expect(wallMs(histogram({ sumS: 3.2, upTo: { "0.25": 0, "0.5": 10, "+Inf": 10 } }))).toBe(312.5);
    expect(wallMs(histogram({ sumS: 2.6, upTo: { "0.25": 0, "0.5": 10, "+Inf": 10 } }))).toBe(260);
    expect(wallMs(histogram({ sumS: 400, upTo: { "25": 0, "+Inf": 10 } }))).toBe(40_000);
  });

  test("takes the ADDs where there are any, and is silent without a run", () => {
    const quickDel = histogram({ verb: "DEL", sumS: 0.05, upTo: { "0.01": 10, "+Inf": 10 } });
    expect(wallMs(quickDel, histogram({ sumS: 2.6, upTo: { "0.25": 0, "0.5": 10, "+Inf": 10 } }))).toBe(260);
    expect(wallMs(quickDel)).toBe(2.5);
    expect(wallMs(histogram({ sumS: 0, upTo: { "+Inf": 0 } }))).toBeUndefined();
  });
});
