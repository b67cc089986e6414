import { expect, test } from "bun:test";
import { VirtualClock } from "../../src/base/virtual-clock.fixture.ts";
import { FleetProgress } from "./fleet-progress.ts";

test("FleetProgress speaks after two seconds, at each cohort's end, and in between when it was silent for five", async () => {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const plan = { seed: 1, nodes: 120, podsPerNode: 10, hours: 1, cohortNodesMax: 50 };
  const progress = new FleetProgress(plan, clock, (line) => lines.push(line));
  const stop = progress.start();
  await clock.advance(1_900);
  expect(lines).toEqual([]);
  await clock.advance(100);
  progress.nodeDone();
  await clock.advance(5_000);
  expect(lines).toEqual([
    "0 of 3 cohorts and 0 of 120 nodes done, 2 s\n",
    "0 of 3 cohorts and 1 of 120 nodes done, 7 s\n",
  ]);
  await clock.advance(3_000);
  progress.cohortDone();
  await clock.advance(4_000);
  expect(lines.slice(2)).toEqual(["1 of 3 cohorts and 1 of 120 nodes done, 10 s\n"]);
  stop();
  await clock.advance(60_000);
  expect(lines).toHaveLength(3);
});
