import { describe, expect, test } from "bun:test";
import type { NetworkWord } from "../../wire/network-question.ts";
import { countingNodes, judgeReadiness } from "./judge-readiness.ts";
import { parseReadiness, renewedStatus } from "./readiness-object.ts";

const nodes = ["a", "b", "c"].map((name) => ({ name }));

function word(state: NetworkWord["state"], reasons: readonly string[] = [], mark = "m"): NetworkWord {
  return { network: "shop/lan", state, reasons, mark };
}

function judged(words: Readonly<Record<string, NetworkWord>>, mark: string | undefined = "m") {
  return judgeReadiness({ mark, nodes, wordOf: (node) => words[node] });
}

describe("judgeReadiness", () => {
  test("is true only if every node says so of this version of the definition", () => {
    const all = { a: word("ready"), b: word("ready"), c: word("ready") };
    expect(judged(all)).toMatchObject({ status: "True", reason: "AllNodesReady", message: "ready on 3 of 3 nodes" });
    expect(judged({ ...all, c: word("ready", [], "older") })).toMatchObject({
      status: "Unknown",
      reason: "NodesNotHeard",
      nodes: { total: 3, ready: 2, notReady: 0, notHeard: 1 },
      unready: [{ node: "c", reason: "its daemon has not looked at this version of the definition yet" }],
    });
  });

  test("names the node and what it lacks, those that lack something first", () => {
    const verdict = judged({ a: word("ready"), c: word("not-ready", ["missing host bridge br-prod", "x"]) });
    expect(verdict).toMatchObject({ status: "False", reason: "NodesNotReady" });
    expect(verdict.message).toBe("ready on 1 of 3 nodes; c: missing host bridge br-prod, x and 1 more");
    expect(verdict.unready.map(({ node }) => node)).toEqual(["c", "b"]);
  });

  test.each([
    ["absent", word("absent", [], "")],
    ["unknown", word("unknown")],
    ["silent", undefined],
  ])("a node that is %s is not ready", (_name, said) => {
    const verdict = judgeReadiness({ mark: "m", nodes: [{ name: "a" }], wordOf: () => said });
    expect(verdict).toMatchObject({ status: "Unknown", reason: "NodesNotHeard", nodes: { notHeard: 1 } });
  });

  test("a node that could not see the network's uplink is not ready, and says so", () => {
    const reason = "the ports of host bridge br-prod were not seen";
    const verdict = judged({ a: word("ready"), b: word("ready"), c: word("unknown", [reason]) });
    expect(verdict).toMatchObject({ status: "Unknown", reason: "NodesNotHeard", unready: [{ node: "c", reason }] });
  });

  test("without a definition and without a node nothing is ready", () => {
    expect(judgeReadiness({ mark: undefined, nodes, wordOf: () => word("ready") })).toMatchObject({
      status: "False",
      reason: "NetworkMissing",
    });
    expect(judgeReadiness({ mark: "m", nodes: [], wordOf: () => word("ready") })).toMatchObject({
      status: "False",
      reason: "NoNodes",
    });
  });

  test("fits into the definition's limits, whatever daemons say", () => {
    const many = Array.from({ length: 5_000 }, (_, index) => ({ name: `node-${index}` }));
    const said = word("not-ready", ["x".repeat(5_000)]);
    const verdict = judgeReadiness({ mark: "m", nodes: many, wordOf: () => said });
    expect(verdict.unready).toHaveLength(20);
    expect(verdict.message.length).toBeLessThan(1_024);
    expect(Math.max(...verdict.unready.map(({ reason }) => reason.length))).toBe(256);
  });
});

test("countingNodes leaves out nodes that take no pods, and those without the labels", () => {
  const facts = { memoryBytes: 0, address: "10.0.0.1" };
  const all = [
    { name: "a", isReady: true, ...facts },
    { name: "b", isReady: false, ...facts },
    { name: "c", isReady: true, isCordoned: true, ...facts } as const,
    { name: "d", isReady: true, ...facts },
  ];
  expect(countingNodes(all).map(({ name }) => name)).toEqual(["a", "d"]);
  expect(countingNodes(all, new Set(["c", "d"])).map(({ name }) => name)).toEqual(["d"]);
});

describe("renewedStatus", () => {
  const ready = judged({ a: word("ready"), b: word("ready"), c: word("ready") });
  const first = renewedStatus({ status: undefined, generation: 1 }, ready, 1_000_000);

  test("writes nothing while the verdict is the same and young, and renews it in time", () => {
    expect(first).toMatchObject({ observedAt: "1970-01-01T00:16:40Z", expiresAt: "1970-01-01T00:21:40Z" });
    const object = { status: first, generation: 1 };
    expect(renewedStatus(object, ready, 1_140_000)).toBeUndefined();
    expect(renewedStatus(object, ready, 1_160_000)).toMatchObject({ observedAt: "1970-01-01T00:19:20Z" });
  });

  test("a new generation and another verdict are written at once, and only the latter is a transition", () => {
    const since = first?.conditions[0].lastTransitionTime;
    const again = renewedStatus({ status: first, generation: 2 }, ready, 1_010_000);
    expect(again?.conditions[0]).toMatchObject({ observedGeneration: 2, lastTransitionTime: since });
    const worse = renewedStatus({ status: first, generation: 1 }, judged({ a: word("not-ready", ["x"]) }), 1_010_000);
    expect(worse?.conditions[0]).toMatchObject({ status: "False", lastTransitionTime: "1970-01-01T00:16:50Z" });
  });

  test("survives the way through the API server", () => {
    const metadata = { namespace: "shop", name: "lan", generation: 1 };
    const object = parseReadiness(JSON.parse(JSON.stringify({ metadata, spec: {}, status: first })));
    expect(object).toMatchObject({ network: "lan", nodeSelector: {} });
    expect(object === undefined ? "none" : renewedStatus(object, ready, 1_010_000)).toBeUndefined();
    expect(parseReadiness({ metadata: { name: "lan" } })).toBeUndefined();
  });
});
