import { expect, test } from "bun:test";
import type { DecisionCard } from "../../wire/console-decision.ts";
import { nowLine, type NowFacts } from "./now-line.ts";

const calm: NowFacts = {
  ...{ nodes: [], waiting: 0, stuck: 0, cards: [], reboots: [], sources: [], isLed: true },
  alerts: { firing: 0, explained: 0, why: "", names: [] },
};

function card(name: string, phase: string): DecisionCard {
  const needsPerson = phase === "Proposed" || phase === "Paused";
  return { name, phase, isOpen: true, needsPerson, command: `levee decisions show ${name}` } as DecisionCard; // all it reads
}

test("nowLine says that all is well only when nothing is wrong", () => {
  expect(nowLine(calm)).toEqual({ state: "well", text: "Nothing needs a person", reasons: [] });
  expect(nowLine({ ...calm, isLed: undefined }).state).toBe("well");
});

test("nowLine puts what needs a person first, with the command that shows it", () => {
  const line = nowLine({
    ...calm,
    waiting: 219,
    cards: [card("stop-1", "Proposed"), card("recover-1", "Running")],
    reboots: [{ node: "n1", sinceMs: 1, verdict: "Deny", reasons: [] }],
    nodes: [{ name: "n1", state: "failed", isReady: false }],
  });
  expect(line.state).toBe("act");
  expect(line.text).toBe("stop-1 waits for a person, and 1 more");
  expect(line.reasons.map(({ text }) => text)).toEqual([
    "stop-1 waits for a person",
    "1 node not ready",
    "recover-1 is Running",
    "219 pods without a network yet",
    "A reboot is due on 1 node, 1 kept from it by the gate",
  ]);
  expect(line.reasons[0]?.command).toBe("levee decisions show stop-1");
});

test.each([
  [{ stuck: 3, waiting: 4 }, "act", "3 pods without a network for more than 5 min"],
  [{ isLed: false }, "act", "No guard leads"],
  [{ cards: [card("x", "Paused")] }, "act", "x is paused and waits for a person"],
  [{ waiting: 1 }, "watch", "Nothing needs a person; 1 pod without a network yet"],
  [
    { alerts: { firing: 45, explained: 41, why: "", names: [] } },
    "watch",
    "Nothing needs a person; 4 alerts that no cause explains",
  ],
  [
    { sources: [{ name: "pods", state: "stale", asOfMs: 1, why: "away" }] },
    "watch",
    "Nothing needs a person; old facts about pods",
  ],
] as const)("nowLine of %o is %s", (more, state, text) => {
  expect(nowLine({ ...calm, ...more })).toMatchObject({ state, text });
});
