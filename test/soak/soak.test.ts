import { expect, test } from "bun:test";
import { causeIn } from "./faults.ts";
import { compareInventories, isSame } from "./inventory.ts";
import { earlyAndLate, roundsOf, type IdleMoment } from "./soak.ts";

function momentsAt(...minutes: readonly number[]): readonly IdleMoment[] {
  return minutes.map((minute) => ({
    atMs: minute * 60_000,
    rssBytes: minute,
    anonBytes: 0,
    descriptors: 0,
    stateBytes: 0,
  }));
}

test("roundsOf gives rounds of a minute, of two in a long run, and never less than three", () => {
  const shape = (minutes: number): readonly number[] => {
    const rounds = roundsOf(minutes);
    return [rounds.length, (rounds[0] ?? 0) / 60_000];
  };
  expect([3, 10, 20, 60].map(shape)).toEqual([
    [3, 1],
    [10, 1],
    [20, 1],
    [30, 2],
  ]);
});

test("earlyAndLate compares what is usual in the first ten minutes, or the first half, with the last quarter, between the kills", () => {
  const compared = (count: number, minutes: number): readonly (number | undefined)[] => {
    const at = Array.from({ length: count }, (_, index) => ((index + 1) * minutes) / count);
    const memory = earlyAndLate(momentsAt(...at), minutes);
    return [memory?.early.rssBytes, memory?.late.rssBytes];
  };
  expect(compared(10, 10)).toEqual([4, 9]);
  expect(compared(30, 60)).toEqual([8, 52]);
  expect(compared(4, 4)).toEqual([2, 3]);
  // One round between the kills says nothing.
  expect(compared(3, 3)).toEqual([undefined, undefined]);
});

test("causeIn explains an ADD by a fault that it overlaps and names, and by no other", () => {
  const past = [
    { name: "disk full", beganMs: 10, endedMs: 20 },
    { name: "plugin fails", beganMs: 30, endedMs: 40 },
    { name: "daemon killed", beganMs: 50, endedMs: 60 },
    { name: "delegate killed", beganMs: 70, endedMs: 71 },
  ] as const;
  const cause = (beganMs: number, endedMs: number, said: string): string | undefined =>
    causeIn(past, { beganMs, endedMs, said });
  expect([cause(5, 12, "ENOSPC"), cause(39, 55, "Cannot attach now: waited")]).toEqual(["disk full", "plugin fails"]);
  expect([
    cause(21, 25, "ENOSPC"),
    cause(12, 14, "Cannot reach the daemon"),
    cause(5, 9, "ENOSPC"),
    cause(51, 52, "Cannot reach the daemon"),
    cause(61, 75, "bridge was ended by signal 9"),
    cause(72, 87, "Cannot attach now: waited as it fails (last: bridge was ended by signal 9)"),
  ]).toEqual(Array.from({ length: 6 }, () => undefined));
  expect(cause(61, 76, "Cannot attach now: waited as it fails (last: bridge was ended by signal 9)")).toBe(
    "delegate killed",
  );
});

test("compareInventories tells what is new and what is gone, one by one", () => {
  const [links, leaks] = compareInventories(
    { links: ["lo", "veth", "veth"], leaks: [] },
    { links: ["lo", "veth", "br0"], leaks: [] },
  );
  expect(links).toEqual({ kind: "links", before: 3, after: 3, more: ["br0"], less: ["veth"] });
  expect(leaks === undefined ? undefined : isSame(leaks)).toBe(true);
  const descriptors = (before: readonly string[], after: readonly string[]): readonly boolean[] =>
    compareInventories({ "daemon's descriptors": before }, { "daemon's descriptors": after }).map(isSame);
  expect(descriptors(["socket", "socket"], ["socket"])).toEqual([true]);
  expect(descriptors(["socket"], ["socket", "socket"])).toEqual([false]);
});
