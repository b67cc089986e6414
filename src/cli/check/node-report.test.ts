import { describe, expect, test } from "bun:test";
import { version } from "../../base/version.ts";
import type { ChecksAnswer, NetworkReadyView } from "../../wire/node-view.ts";
import { aNode, someChecks } from "./check-answers.fixture.ts";
import { nodeReportText, summaryText } from "./node-report-text.ts";
import type { CheckLine } from "./check-line.ts";
import { nodeReport, type NodeReport } from "./node-report.ts";

const vlan57: NetworkReadyView = {
  network: "prod/vlan57",
  state: "not-ready",
  reasons: ["missing host bridge br-prod"],
};

function textOf(report: NodeReport, isFull = true): string {
  return nodeReportText(report, { paint: (_colour, text) => text, isFull });
}

describe("nodeReport", () => {
  test("puts checks in sections, and leaves out those that nothing is said in", () => {
    const report = nodeReport({ node: "worker-1", said: { node: aNode(), checks: someChecks() }, shim: "" });
    expect(report.isGood).toBe(true);
    expect(textOf(report)).toBe(
      [
        "worker-1",
        "  daemon",
        `    √ daemon: answers: levee ${version}, since 1970-01-01T00:00:00.000Z, 3 attachments`,
        `    √ versions: command and daemon are all ${version}`,
        "  cluster",
        "    √ api: the API server answers",
        "  state",
        "    √ journal: 3 attachments",
        "",
      ].join("\n"),
    );
  });

  test("refuses to call a network ready whose bridge is missing, and says what to do", () => {
    const networks: NetworkReadyView[] = [
      vlan57,
      { network: "prod/a", state: "not-ready", reasons: ["missing plugin whereabouts"] },
      { network: "prod/b", state: "not-ready", reasons: ["it has no spec.config"] },
      { network: "prod/c", state: "unknown", reasons: [] },
    ];
    const checks = someChecks({ networks, networksTotal: 9 });
    const report = nodeReport({ node: "worker-1", said: { node: aNode(), checks }, shim: "" });
    expect(report.isGood).toBe(false);
    expect(report.sections.at(-1)?.lines.map(({ state, name, detail }) => `${state} ${name} ${detail}`)).toEqual([
      "failed prod/vlan57 not ready: missing host bridge br-prod",
      "failed prod/a not ready: missing plugin whereabouts",
      "failed prod/b not ready: it has no spec.config",
      "warning networks 1 could not be checked",
      "ok networks 5 ready on this node",
    ]);
    expect(textOf(report, false)).toContain("        hint: create what is missing on the host, with its uplink");
    expect(textOf(report, false)).not.toContain("√");
  });

  test("names a remedy for each kind of thing that is missing", () => {
    const networks: NetworkReadyView[] = [
      { network: "prod/a", state: "not-ready", reasons: ["missing plugin macvlan", "missing host interface eth9"] },
    ];
    const lines = linesOf(someChecks({ networks, networksTotal: 1 }));
    expect(lines[0]?.hint).toMatch(/^install the plugin .*; create what is missing on the host/u);
  });

  test("warns of a bridge that leads nowhere, and tells how old the look is", () => {
    const networks: NetworkReadyView[] = [
      { network: "prod/a", state: "ready", reasons: ["host bridge br0 has no uplink"] },
      { network: "prod/b", state: "ready", reasons: [] },
    ];
    const lines = linesOf(someChecks({ networks, networksTotal: 2, networksAgeMs: 42_000 }));
    expect(lines.map(({ state, name, detail }) => `${state} ${name} ${detail}`)).toEqual([
      "warning prod/a ready, but host bridge br0 has no uplink",
      "ok networks 2 ready on this node, as of 42s ago",
    ]);
  });

  test("does not blame the hand before the first look", () => {
    const networks: NetworkReadyView[] = [{ network: "prod/c", state: "unknown", reasons: [] }];
    const hand = { name: "hand", state: "ok", detail: "a resident hand is connected", hint: "" } as const;
    const answer = someChecks({ networks, networksTotal: 1, checks: [hand] });
    expect(linesOf(answer)[0]?.detail).toBe("1 not checked yet: the first look is still to come");
    expect(linesOf({ ...answer, networksAgeMs: 1_000 })[0]?.detail).toBe("1 could not be checked");
    expect(linesOf({ ...answer, checks: [] })[0]?.hint).toContain(
      "to look at the host, the daemon needs a resident hand",
    );
  });

  test("lists no more networks than a person reads", () => {
    const networks = Array.from({ length: 30 }, () => vlan57);
    const checks = someChecks({ networks, networksTotal: 30 });
    const lines = nodeReport({ node: "n", said: { node: aNode(), checks }, shim: "" }).sections.at(-1)?.lines;
    expect(lines).toHaveLength(21);
    expect(lines?.at(-1)?.detail).toBe("10 more are not ready");
  });

  test("warns of parts that are of another version than the daemon", () => {
    const node = aNode({ residentHands: [{ software: "levee-shim/0.0.9", pid: 1, sinceWallMs: 0 }] });
    const said = { node, checks: someChecks({ shimSoftware: `levee-shim/${version}` }) };
    expect(versionsOf(nodeReport({ node: "n", said, shim: "" }))).toEqual([
      `the hand is levee-shim/0.0.9, the daemon levee ${version}`,
    ]);
    expect(versionsOf(nodeReport({ node: "n", said: { ...said, node: aNode() }, shim: "" }))).toEqual([
      `shim, command and daemon are all ${version}`,
    ]);
    expect(versionsOf(nodeReport({ node: "n", said: { ...said, node: aNode() }, shim: "levee-shim/9.9.9" }))).toEqual([
      `the shim is levee-shim/9.9.9, the daemon levee ${version}`,
    ]);
  });

  test("fails without a daemon, and warns when the daemon is too old to be asked", () => {
    const away = nodeReport({ node: "n", said: { away: "no socket", hint: "start it" }, shim: "" });
    expect(away).toMatchObject({ isGood: false, networks: undefined });
    expect(textOf(away)).toContain("    × daemon: does not answer: no socket\n        hint: start it\n");
    const old = nodeReport({ node: "n", said: { node: aNode(), checks: undefined }, shim: "" });
    expect(old.isGood).toBe(true);
    expect(textOf(old, false)).toContain("‼ checks: the daemon is too old");
  });
});

test("summaryText counts over all nodes", () => {
  const good = nodeReport({ node: "a", said: { node: aNode(), checks: someChecks() }, shim: "" });
  const bad = nodeReport({ node: "b", said: { away: "gone", hint: "" }, shim: "" });
  const paint = (_colour: string, text: string): string => text;
  expect(summaryText([good], paint)).toBe("√ 4 checks: 0 failed, 0 warnings\n");
  expect(summaryText([good, bad], paint)).toBe("× 5 checks on 2 nodes: 1 failed, 0 warnings\n");
  expect(textOf(good, false)).toBe("worker-1\n  √ all is well\n".replace("worker-1", "a"));
});

function linesOf(checks: ChecksAnswer): readonly CheckLine[] {
  return nodeReport({ node: "n", said: { node: aNode(), checks }, shim: "" }).sections.at(-1)?.lines ?? [];
}

function versionsOf(report: NodeReport): readonly string[] {
  const lines = report.sections.flatMap(({ lines: own }) => own);
  return lines.filter(({ name }) => name === "versions").map(({ detail }) => detail);
}
