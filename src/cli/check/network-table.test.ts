import { describe, expect, test } from "bun:test";
import { networkRows, networkTable } from "./network-table.ts";
import type { NodeReport } from "./node-report.ts";

function report(node: string, networks: NodeReport["networks"]): NodeReport {
  return { node, isGood: true, sections: [], networks, networksTotal: networks?.length ?? 0 };
}

const ready = { network: "prod/lan", state: "ready", reasons: [] } as const;
const broken = { network: "prod/vlan57", state: "not-ready", reasons: ["missing host bridge br-prod"] } as const;

describe("networkTable", () => {
  test("has a column for each of a few nodes, and says what is missing where", () => {
    const reports = [
      report("a", [ready, { ...broken, state: "ready", reasons: [] }]),
      report("b", [broken, ready]),
      report("c", undefined),
    ];
    expect(networkTable(networkRows(reports), ["a", "b", "c"], false)).toBe(
      [
        "NETWORK       a       b           c",
        "prod/lan      ready   ready       -",
        "prod/vlan57   ready   not-ready   -",
        "",
        "× prod/vlan57 on b: missing host bridge br-prod",
        "",
        "",
      ].join("\n"),
    );
  });

  test("counts over many nodes and names the first that are not ready", () => {
    const nodes = Array.from({ length: 9 }, (_unused, index) => `n${index}`);
    const reports = nodes.map((node, index) =>
      report(node, [index < 2 ? { ...broken, state: "ready", reasons: [] } : broken]),
    );
    const text = networkTable(networkRows(reports), nodes, false);
    expect(text).toContain("prod/vlan57   2/9     n2, n3, n4, n5, n6 and 2 more\n");
    expect(text).toContain("× prod/vlan57 on n2, n3, n4, n5, n6 and 2 more: missing host bridge br-prod\n");
  });

  test("of many networks lists those that are not ready everywhere, unless asked for all", () => {
    const many = Array.from({ length: 60 }, (_unused, index) => ({ ...ready, network: `prod/n${index}` }));
    const rows = networkRows([report("a", [...many, broken])]);
    const text = networkTable(rows, ["a"], false);
    expect(text).not.toContain("prod/n7");
    expect(text).toContain("prod/vlan57");
    expect(text).toContain("60 networks ready on every node, not listed; -o wide lists all\n");
    expect(networkTable(rows, ["a"], true)).toContain("prod/n7 ");
  });

  test("is empty without networks", () => {
    expect(networkTable(networkRows([report("a", undefined)]), ["a"], false)).toBe("");
  });
});
