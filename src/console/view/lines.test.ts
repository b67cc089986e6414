import { describe, expect, test } from "bun:test";
import type { DecisionCard } from "../../wire/console-decision.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import { addressRoom } from "./address-room.ts";
import { alertSums } from "./alert-sums.ts";
import { sortedNetworks } from "./network-lines.ts";
import { pluginLines } from "./plugin-lines.ts";
import { rebootLines } from "./reboot-lines.ts";

describe("alertSums", () => {
  const edge = (effect: string, rule: string): object => ({ cause: "c", effect, rule, why: "w" });
  const chain = [
    edge("39 alerts KubePodNotReady", "AlertOfMember"),
    edge("alert MultusOOMLoop", "AlertOfCniDaemons"),
    edge("2 alerts of something else", "NotAnAlert"),
  ];
  // Both Decisions of a cause have the same chain.
  const open = [{ chain }, { chain }] as unknown as readonly DecisionCard[]; // all it reads

  test("counts explained alerts once for both Decisions of a cause, and never more than fire", () => {
    const sums = alertSums(
      { counts: { KubePodNotReady: 38, MultusOOMLoop: 1, Other: 4 } },
      open,
      (name) => name === "MultusOOMLoop",
    );
    expect(sums).toMatchObject({ firing: 43, explained: 39 });
    expect(sums.names[0]).toEqual({ name: "Other", firing: 4, explained: 0 });
  });

  test("says why it knows nothing", () => {
    expect(alertSums({ why: "no Alertmanager" }, open, () => true)).toEqual({ why: "no Alertmanager", names: [] });
  });
});

describe("rebootLines", () => {
  const gate: RebootGate = {
    node: "n2",
    verdict: "Deny",
    reasons: [{ code: "FiringAlert", message: "m", sinceMs: 1, object: "Alert/x", remedy: "r" }],
    ...{ rebootRequiredSinceMs: 500, observedAtMs: 1_000, expiresAtMs: 121_000, exceptions: [] },
  };

  test("joins marks and gates, the longest waiting first", () => {
    const lines = rebootLines(new Map([["n2", gate]]), new Map([["n1", 900]]), 2_000);
    expect(lines.map(({ node, verdict }) => [node, verdict])).toEqual([
      ["n2", "Deny"],
      ["n1", undefined],
    ]);
    expect(lines[0]?.reasons[0]?.code).toBe("FiringAlert");
  });

  test("shows whose exceptions let alerts pass, why and until when", () => {
    const exceptions = [{ name: "x-1", by: "alice", reason: "the offsite mount", untilMs: 9_000 }];
    const [line] = rebootLines(new Map([["n2", { ...gate, exceptions }]]), new Map(), 2_000);
    expect(line?.exceptions).toEqual([{ by: "alice", reason: "the offsite mount", untilMs: 9_000 }]);
  });

  test("takes an Allow that has expired for Deny", () => {
    const old: RebootGate = { ...gate, verdict: "Allow", reasons: [] };
    const [line] = rebootLines(new Map([["n2", old]]), new Map(), 999_000);
    expect(line).toMatchObject({ verdict: "Deny", reasons: [{ code: "GateStale" }] });
  });
});

describe("sortedNetworks", () => {
  const on = (node: string, state: "ready" | "not-ready", ...reasons: readonly string[]): object => ({
    node,
    state,
    reasons,
    network: "x",
  });
  const sight = (
    name: string,
    onNodes: readonly object[],
    isDefined = true,
  ): Parameters<typeof sortedNetworks>[0][number] =>
    ({ name, plugins: [], use: { pods: 1, waiting: 0 }, isDefined, onNodes }) as Parameters<
      typeof sortedNetworks
    >[0][number]; // as daemons tell

  test("shows trouble first, with nodes named, a few of many", () => {
    const bad = Array.from({ length: 9 }, (_, at) => on(`n${at}`, "not-ready", "no bridge"));
    const lines = sortedNetworks([
      sight("a/well", [on("n1", "ready")]),
      sight("a/half", [on("x", "ready"), ...bad]),
      sight("a/none", [], false),
    ]);
    expect(lines.map(({ name, state }) => [name, state])).toEqual([
      ["a/none", "failed"],
      ["a/half", "warning"],
      ["a/well", "ok"],
    ]);
    expect(lines[0]?.why).toEqual(["pods name it, and it has no definition"]);
    expect(lines[1]).toMatchObject({ ready: 1, nodes: 10 });
    expect(lines[1]?.why.at(-1)).toBe("and 5 more nodes");
  });
});

describe("pluginLines", () => {
  test("adds the nodes' histograms up before it takes a quantile", () => {
    const one = { plugin: "bridge", verb: "ADD" };
    const fast = {
      ...one,
      runs: 90,
      failed: 0,
      buckets: [
        [0.1, 90],
        [1, 90],
        [Number.POSITIVE_INFINITY, 90],
      ] as const,
    };
    const slow = {
      ...one,
      runs: 10,
      failed: 4,
      buckets: [
        [0.1, 0],
        [1, 0],
        [Number.POSITIVE_INFINITY, 10],
      ] as const,
    };
    expect(pluginLines([[fast], [slow]])).toEqual([{ ...one, runs: 100, failed: 4, p50Ms: 100, p99Ms: 1_000 }]);
    expect(pluginLines([[{ ...fast, runs: 0, buckets: [] }]])[0]).toMatchObject({ p50Ms: 0, p99Ms: 0 });
  });
});

test("addressRoom counts where one pool serves the cluster, and on the fullest node that told", () => {
  const sizes = { v4: 254, v6: 0 };
  const both = { v4: 254, v6: 2 ** 64 };
  expect(addressRoom({ type: "whereabouts", sizes }, 7, []).addresses).toEqual({ total: 254, used: 7 });
  expect(addressRoom({ type: "whereabouts", sizes: both }, 7, []).addresses).toEqual({ total: 254, used: 7 });
  const leases = [
    { node: "n1", v4: 3, v6: 0 },
    { node: "n2", v4: 250, v6: 250 },
  ];
  expect(addressRoom({ type: "host-local", sizes }, 7, leases)).toEqual({
    addresses: { total: 254, used: 250 },
    addressesWhy: "on n2, the fullest of 2 nodes that told: host-local has a range on each",
  });
  expect(addressRoom({ type: "host-local", sizes: { v4: 0, v6: 9 } }, 7, leases).addresses).toEqual({
    total: 9,
    used: 9,
  });
  for (const ipam of [
    { type: "host-local", sizes },
    { type: "host-local", sizes: { v4: 0, v6: 0 } },
    { type: "dhcp", sizes },
    { type: "", sizes },
  ])
    expect(addressRoom(ipam, 1, [])).toEqual({ addressesWhy: expect.stringMatching(/\w/u) });
});
