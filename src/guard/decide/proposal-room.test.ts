import { expect, test } from "bun:test";
import type { Decision, DecisionPhase } from "../decision/decision.ts";
import { findAvalanches } from "../detect/avalanche.ts";
import { minuteMs, nowMs, outagePods, world } from "../world.fixture.ts";
import { endedDecisionsMax, ProposalRoom } from "./proposal-room.ts";

const large = outagePods(60, { shape: "large", namespace: "a" });
const small = outagePods(30, { shape: "small", namespace: "a" });
const other = outagePods(25, { shape: "other", namespace: "b" });

interface Made {
  readonly namespace?: string;
  readonly shape?: string;
  readonly phase?: DecisionPhase;
  readonly atMs?: number;
}

function decisions(count: number, { namespace = "a", shape = "tiny", phase = "Proposed", atMs = 0 }: Made): Decision[] {
  const metadata = { name: "x", namespace: "levee-system", creationTimestamp: new Date(atMs).toISOString() };
  const one = { metadata, spec: { subject: { namespace, shape } }, status: { phase } } as unknown as Decision; // only what is read
  return Array.from({ length: count }, () => one);
}

/** The room for the large, the small and the other avalanche. */
function rooms(known: readonly Decision[]): readonly number[] {
  const avalanches = findAvalanches([...large, ...small, ...other], nowMs);
  const room = new ProposalRoom(avalanches, world({ decisions: known }));
  return avalanches.map((avalanche) => room.roomFor(avalanche));
}

test("ProposalRoom has room for eight in each namespace without proposals", () => {
  expect(rooms([])).toEqual([8, 8, 8]);
  expect(rooms(decisions(5, {}))).toEqual([3, 3, 8]);
});

for (const [what, known] of [
  ["eight open questions", decisions(8, {})],
  ["eight questions within the hour", decisions(8, { phase: "Expired", atMs: nowMs - 59 * minuteMs })],
] as const) {
  test(`ProposalRoom lets the largest of a namespace through after ${what}, and not the others there`, () => {
    expect(rooms(known)).toEqual([2, 0, 8]);
  });
}

for (const [what, known] of [
  ["50 open questions", decisions(50, { namespace: "c" })],
  ["so many ended ones that a person must delete some", decisions(endedDecisionsMax, { phase: "Succeeded" })],
] as const) {
  test(`ProposalRoom lets only the largest of all through with ${what}`, () => {
    expect(rooms(known)).toEqual([2, 0, 0]);
  });
}

test("ProposalRoom lets the largest through once in a quarter of an hour", () => {
  const full = decisions(50, { namespace: "c" });
  const ended = (ageMs: number): Decision[] => decisions(1, { shape: "large", phase: "Expired", atMs: nowMs - ageMs });
  expect(rooms([...full, ...decisions(1, { shape: "large" })])).toEqual([0, 0, 0]);
  expect(rooms([...full, ...ended(14 * minuteMs)])).toEqual([0, 0, 0]);
  expect(rooms([...full, ...ended(16 * minuteMs)])).toEqual([2, 0, 0]);
});

test("ProposalRoom counts the proposals of the same round", () => {
  const avalanches = findAvalanches([...large, ...other], nowMs);
  const room = new ProposalRoom(avalanches, world({ decisions: decisions(48, { namespace: "c" }) }));
  expect(room.roomFor(avalanches[0]!)).toBe(2);
  room.take(2);
  expect(room.roomFor(avalanches[1]!)).toBe(0);
});
