import { expect, test } from "bun:test";
import type { NetworkReadyView } from "../../wire/node-view.ts";
import { isPassed, isUnknownEverywhere, networkVerdicts, verdictTable, withDryRun } from "./network-verdicts.ts";
import type { NodeReport } from "./node-report.ts";

function report(node: string, networks: readonly NetworkReadyView[] | undefined, networksTotal?: number): NodeReport {
  const away = { state: "failed", name: "daemon", detail: "does not answer: refused", hint: "start it" } as const;
  const sections = networks === undefined ? [{ title: "daemon", lines: [away] }] : [];
  return { node, isGood: true, sections, networks, networksTotal: networksTotal ?? networks?.length ?? 0 };
}

const ready: NetworkReadyView = { network: "vms/prod", state: "ready", reasons: [] };
const missing: NetworkReadyView = { ...ready, state: "not-ready", reasons: ["missing host bridge br-prod"] };

test("networkVerdicts has a line for every node, and only ready passes", () => {
  const reports = [
    report("a", [ready, { ...ready, network: "vms/other" }]),
    report("b", [missing]),
    report("c", [{ ...ready, state: "unknown" }]),
    report("d", []),
    report("e", undefined),
  ];
  const verdicts = networkVerdicts("vms/prod", reports);
  expect(verdicts.map(({ node, state }) => `${node} ${state}`)).toEqual([
    "a ready",
    "b not-ready",
    "c unknown",
    "d absent",
    "e away",
  ]);
  expect(verdicts.filter(isPassed).map(({ node }) => node)).toEqual(["a"]);
  expect(verdicts[1]?.hint).toContain("create what is missing on the host");
  expect(verdicts[4]).toMatchObject({ reasons: ["does not answer: refused"], hint: "start it" });
  expect(isUnknownEverywhere(verdicts)).toBe(false);
});

test("a name without a namespace means every network of that name", () => {
  const two = [report("a", [ready, { ...missing, network: "lab/prod" }, { ...ready, network: "vms/prod2" }])];
  expect(networkVerdicts("prod", two).map(({ network }) => network)).toEqual(["lab/prod", "vms/prod"]);
});

test("a network that no node knows is told from one that some nodes lack", () => {
  expect(isUnknownEverywhere(networkVerdicts("vms/none", [report("a", [ready]), report("b", undefined)]))).toBe(true);
  expect(isUnknownEverywhere(networkVerdicts("vms/none", [report("b", undefined)]))).toBe(false);
});

test("a network that a long answer does not name is unknown, whether another node names it or not", () => {
  const reports = [report("a", [missing]), report("b", [{ ...missing, network: "vms/other" }], 1_500)];
  const [, untold] = networkVerdicts("vms/prod", reports);
  const reasons = ["the node told of 1 of 1500 networks, and not of this one"];
  expect(untold).toMatchObject({ node: "b", state: "unknown", reasons });
  expect(untold?.hint).toContain("a NetworkReadiness object");
  const everywhere = networkVerdicts("vms/typo", [report("b", [missing], 1_500)]);
  expect(everywhere).toMatchObject([{ state: "unknown" }]);
  expect(isUnknownEverywhere(everywhere)).toBe(false);
});

test("a network whose uplink the hand could not see is unknown, with what it did not see and what to do", () => {
  const reasons = ["the ports of host bridge br-prod were not seen"];
  const [verdict] = networkVerdicts("vms/prod", [report("a", [{ ...ready, state: "unknown", reasons }])]);
  expect(verdict).toMatchObject({ state: "unknown", reasons });
  expect(verdict?.hint).toStartWith("roll out the resident hand");
  expect(verdict?.hint).not.toContain("mend the bridge's uplink");
});

test("verdictTable shows each remedy once below the table, and in a column when wide", () => {
  const verdicts = networkVerdicts("prod", [report("a", [missing]), report("b", [missing]), report("c", [ready])]);
  const table = verdictTable(verdicts, { isWide: false });
  expect(table).toMatch(/a +vms\/prod +not-ready +missing host bridge br-prod/u);
  expect(table.match(/→ create what is missing/gu)).toHaveLength(1);
  expect(verdictTable(verdicts, { isWide: true })).toContain("REMEDY");
});

test("withDryRun: only a dry run that passed lets a ready network pass, and the table says where it failed", () => {
  const passed = {
    state: "passed",
    step: "compare",
    reason: "",
    remedy: "",
    addresses: ["10.1.0.2"],
    tookMs: 90,
  } as const;
  const failed = { ...passed, state: "failed", step: "ADD", reason: "no IP\naddresses", remedy: "free some" } as const;
  const [a, b, c] = networkVerdicts("vms/prod", [report("a", [ready]), report("b", [ready]), report("c", [missing])]);
  if (a === undefined || b === undefined || c === undefined) throw new Error("There are three");
  const verdicts = [withDryRun(a, passed), withDryRun(b, failed), withDryRun(c, undefined)];
  expect(verdicts.map(isPassed)).toEqual([true, false, false]);
  const text = verdictTable(verdicts, { isWide: false, isDryRun: true });
  expect(text).toMatch(/^NODE +NETWORK +STATE +DRY RUN +WHY\n/u);
  expect(text).toMatch(/a +vms\/prod +ready +passed/u);
  expect(text).toMatch(/b +vms\/prod +ready +failed at ADD +no IP addresses/u);
  expect(text).toMatch(/c +vms\/prod +not-ready +not tried +missing host bridge br-prod/u);
  expect(text).toContain("→ free some\n");
  expect(verdictTable(verdicts, { isWide: true, isDryRun: true })).toMatch(/passed +- +10\.1\.0\.2 +90 ms/u);
});
