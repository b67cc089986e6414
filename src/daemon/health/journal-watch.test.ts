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
  const journal = {
    stats: () => ({ attachments: 4, leaks: 2, quarantined: 1 }),
    probeWritable: () => {
      probes += 1;
      return probe();
    },
  } as unknown as Journal; // only what the watch uses
  const turn = async (): Promise<void> => {
    tick();
    await systemClock.sleep(1);
  };

  const watch = new JournalWatch(clock, journal);
  await systemClock.sleep(1);
  expect(watch.facts()).toEqual({ unwritable: undefined, stuckMs: 0, attachments: 4, leaks: 2, quarantined: 1 });

  probe = () => Promise.reject(new LeveeError("state-unwritable", "the disk is full"));
  await turn();
  expect(watch.facts().unwritable).toBe("the disk is full");

  const stuck = Promise.withResolvers<void>();
  probe = () => stuck.promise;
  await turn();
  nowMs += 130_000;
  await turn();
  expect(probes).toBe(3);
  expect(watch.facts()).toMatchObject({ stuckMs: 130_000, unwritable: "the disk is full" });

  stuck.resolve();
  await watch.stop();
  expect(watch.facts()).toMatchObject({ stuckMs: 0, unwritable: undefined });
});
