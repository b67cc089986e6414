import { describe, expect, test } from "bun:test";
import { timeLine } from "./time-line.ts";

describe("timeLine", () => {
  const svg = timeLine({
    title: "4 pods <at once>",
    pods: 4,
    curves: [
      { label: "quick", attachedAtMs: [500, 1000, 1500, 2000] },
      { label: "stuck", attachedAtMs: [1000] },
      { label: "dead", attachedAtMs: [] },
    ],
  });

  test("has a line per contender up to the right edge, also for one that attached no pod", () => {
    const ends = [...svg.matchAll(/<path d="M60 304\.0 .*?L(\d+) ([\d.]+)" /gu)].map(([, x, y]) => `${x} ${y}`);
    expect(ends).toEqual(["620 44.0", "620 239.0", "620 304.0"]);
  });

  test("says how many each has attached, and lets no text through as markup", () => {
    for (const label of ["quick: 4", "stuck: 1", "dead: 0"]) expect(svg).toContain(`>${label}</text>`);
    expect(svg).toContain("4 pods &lt;at once&gt;");
  });
});
