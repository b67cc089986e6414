import { describe, expect, test } from "bun:test";
import { certificateText, certificateValue, isHeld, verdictText, type Certificate } from "./certificate.ts";
import { reportHtml } from "./report-html.ts";
import { testNode, testPlan, testRun } from "../run.fixture.ts";
import type { StormRun } from "../verdict.ts";

const held = testRun();
const broke = testRun({ plan: { ...testPlan, pods: 8 }, oomKills: 2 });

function certificate(runs: readonly StormRun[], isUntilItBreaks = false): Certificate {
  return { node: testNode, runs, isUntilItBreaks, warnings: [] };
}

describe("verdictText", () => {
  test("says what the node holds", () => {
    expect(verdictText(certificate([held]))).toBe("holds 4 pods at 50Mi on this node");
  });

  test("says what did not hold", () => {
    expect(verdictText(certificate([broke]))).toStartWith("does not hold 8 pods at 50Mi on this node: ");
    expect(isHeld(certificate([broke]))).toBe(false);
  });

  test("of growing storms names the last that held and why the next did not", () => {
    const grown = certificate([held, broke], true);
    expect(verdictText(grown)).toStartWith("holds 4 pods at 50Mi on this node, and breaks at 8: 4 of 8 pods");
    expect(isHeld(grown)).toBe(true);
    expect(verdictText(certificate([held], true))).toBe(
      "holds 4 pods at 50Mi on this node, the largest size that was tried",
    );
    expect(isHeld(certificate([broke], true))).toBe(false);
  });
});

describe("certificateText", () => {
  test("has the verdict first, then the figures", () => {
    const text = certificateText(certificate([held]), (_colour, plain) => plain);
    expect(text.split("\n")[0]).toBe("✓ holds 4 pods at 50Mi on this node");
    expect(text).toContain("attached          4 of 4 in 400 ms");
    expect(text).toContain("second namespace  2 of 2, 2.0 s in; 50 ms median, 70 ms at most");
    expect(text).toContain("45.0 MiB of 50.0 MiB at most; in use 30.0 MiB, its own 12.0 MiB");
    expect(text).toContain("deleted           all in 250 ms\n");
    expect(text).toContain("nothing: no address, no interface, no record");
  });

  test("tells deletes that were put off, and the disk of its own", () => {
    const node = { ...testNode, nodeReadAheadKib: 8192, hasOwnDisk: true };
    const text = certificateText({ ...certificate([testRun({ tidyMs: 90_000 })]), node }, (_colour, plain) => plain);
    expect(text).toContain("all in 250 ms, some of them carried out later, in 1m30s");
    expect(text).toContain("read-ahead 128 KiB on its own disk (the node's: 8192), load");
  });
});

describe("certificateValue", () => {
  test("is for programs: a verdict, the figures, no series", () => {
    const value = certificateValue(certificate([held, broke], true)) as { runs: readonly object[] };
    expect(value).toMatchObject({ holds: true, podsHeld: 4, runs: [{ tookMs: 400 }, { oomKills: 2 }] });
    expect(value.runs[0]).not.toHaveProperty("moments");
  });
});

describe("reportHtml", () => {
  const html = reportHtml(certificate([held, broke], true));

  test("needs nothing from anywhere", () => {
    expect(html).not.toMatch(/https?:|<script|<link|src=|@import|url\(/u);
  });

  test("has four plots for every storm, the newest open", () => {
    expect(html.match(/<svg /gu)).toHaveLength(8);
    expect(html.match(/<details open>/gu)).toHaveLength(1);
    expect(html.indexOf("8 pods at 50Mi")).toBeLessThan(html.indexOf("<summary>4 pods"));
    expect(html).not.toContain("NaN");
    expect(html).not.toContain("Infinity");
  });

  test("takes text as text", () => {
    expect(html).toContain("node-&lt;1&gt;");
    expect(html).not.toContain("node-<1>");
  });

  test("draws a storm in which nothing was ever attached", () => {
    const empty = reportHtml(certificate([testRun({ records: [], moments: [] })]));
    expect(empty).not.toContain("NaN");
    expect(empty).not.toContain("Infinity");
  });
});
