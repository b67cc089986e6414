import { expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { JournalWatch } from "./journal-watch.ts";

test("JournalWatch knows whether a trial write worked, and how long one has been running", async () => {
  let nowMs = 0;
  let tick: () => void = () => undefined;
  let probe: () => Promise<void> = () => Promise.resolve();
  let probes = 0;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    every: (_ms, callback) => {
      tick = callback;
      return () => undefined;
    },
  };
  let refusals = { count: 0, reason: "" };
  let glance: () => void = () => undefined;
  const changes: (string | undefined)[] = [];
  const journal = {
    stats: () => ({ attachments: 4, leaks: 2, quarantined: 1, unwritten: 3, refusals }),
    glance: () => glance(),
    probeWritable: () => {
      probes += 1;
      return probe();
    },
  } as unknown as Journal; // only what the watch uses
  const turn = async (): Promise<void> => {
    tick();
    await systemClock.sleep(1);
  };

  const watch: JournalWatch = new JournalWatch(clock, journal, () => changes.push(watch.facts().unwritable));
  await systemClock.sleep(1);
  const counts = { attachments: 4, leaks: 2, quarantined: 1, unwritten: 3 };
  expect(watch.facts()).toEqual({ ...counts, unwritable: undefined, stuckMs: 0 });

  probe = () => Promise.reject(new LeveeError("state-unwritable", "the disk is full"));
  nowMs += 29_000;
  await turn();
  expect(watch.facts().unwritable).toBeUndefined();
  nowMs += 1_000;
  await turn();
  expect(watch.facts().unwritable).toBe("the disk is full");
  expect(changes).toEqual(["the disk is full"]);

  const stuck = Promise.withResolvers<void>();
  probe = () => stuck.promise;
  nowMs += 4_000;
  await turn();
  expect(probes).toBe(2);
  nowMs += 1_000;
  await turn();
  nowMs += 130_000;
  await turn();
  expect(probes).toBe(3);
  expect(watch.facts()).toMatchObject({ stuckMs: 130_000, unwritable: "the disk is full" });

  stuck.resolve();
  await watch.stop();
  expect(watch.facts()).toMatchObject({ stuckMs: 0, unwritable: undefined });
  expect(changes).toEqual(["the disk is full", undefined]);

  // A refused write shows at once, and stays until a trial works.
  refusals = { count: 1, reason: "read-only" };
  expect(watch.facts().unwritable).toBe("read-only");
  const still = Promise.withResolvers<void>();
  probe = () => still.promise;
  await turn();
  expect(changes.slice(2)).toEqual(["read-only"]);
  still.resolve();
  await systemClock.sleep(1);
  expect(watch.facts().unwritable).toBeUndefined();

  // So does what a glance sees; a trial that puts it right ends it.
  glance = () => {
    throw new LeveeError("state-unwritable", "the folder is gone");
  };
  probe = () => Promise.reject(new LeveeError("state-unwritable", "and stays gone"));
  await turn();
  expect(watch.facts().unwritable).toBe("and stays gone");
  glance = () => undefined;
  probe = () => Promise.resolve();
  nowMs += 5_000;
  await turn();
  expect(changes.slice(3)).toEqual([undefined, "the folder is gone", undefined]);
});
