import { expect, test } from "bun:test";
import type { ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";
import type { DaemonFacts } from "../facts/daemon-facts.ts";
import type { DaemonSaid } from "./daemon-asker.ts";
import { heldLines } from "./held-lines.ts";

const facts = { held: 3, halfOpen: 1, hung: 1 } as DaemonFacts; // only what it reads
const deep = { node: {} as NodeAnswer, checks: {} as ChecksAnswer }; // as above
const pod = { namespace: "shop", pod: "web-0", failures: 4, nextTryMs: 19_500, cause: "network", network: "shop/lan" };

function linesOf(said: DaemonSaid): readonly (readonly unknown[])[] {
  return heldLines(new Map([["n1", said]])).map(({ kind, name, count, why }) => [kind, name, count, why]);
}

test("heldLines names whom a daemon has named, and counts the others", () => {
  const holds = {
    pods: [pod, { ...pod, pod: "web-1", failures: 1, cause: "own" }],
    podsTotal: 3,
    networks: [{ network: "shop/lan", failures: 9, forMs: 60_000 }],
    hung: [{ namespace: "shop", pod: "db-0", network: "shop/lan", plugin: "bridge", forMs: 5_000 }],
  };
  expect(linesOf({ facts, deep: { ...deep, holds }, silence: "" })).toEqual([
    ["hung", "shop/db-0", 1, "bridge of shop/lan uses no CPU and does not end"],
    ["network", "shop/lan", 9, expect.stringContaining("fails for every pod")],
    ["pods", "shop/web-0", 1, "failed 4 times because of shop/lan; its next try is in 20 s"],
    ["pods", "shop/web-1", 1, "failed once because of what it asks for; its next try is in 20 s"],
    ["pods", "", 1, expect.stringContaining("wait for their next try")],
  ]);
  // The numbers are newer than the names.
  const calm = { ...facts, held: 0, halfOpen: 0, hung: 0 };
  expect(linesOf({ facts: calm, deep: { ...deep, holds }, silence: "" })).toEqual([]);
});

test("heldLines has numbers of a daemon of an earlier release, and nothing of one that was never heard", () => {
  expect(linesOf({ facts, deep, silence: "" }).map(([kind, name, count]) => [kind, name, count])).toEqual([
    ["hung", "", 1],
    ["network", "", 1],
    ["pods", "", 3],
  ]);
  expect(linesOf({ silence: "away" })).toEqual([]);
});
