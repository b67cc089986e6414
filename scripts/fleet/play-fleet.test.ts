import { expect, test } from "bun:test";
import { playCohort } from "../../src/sim/fleet/play-cohort.ts";
import { readFleet } from "./fleet-command.ts";
import { peakBytes } from "./peak-bytes.ts";
import { playFleet } from "./play-fleet.ts";

test("playFleet plays each cohort once, in whichever process, with the same result", async () => {
  const plan = { seed: 3, nodes: 52, podsPerNode: 10, hours: 1, cohortNodesMax: 50 };
  const done = { nodes: 0, cohorts: 0 };
  const watch = { nodeDone: () => void (done.nodes += 1), cohortDone: () => void (done.cohorts += 1) };
  const { tally, rssBytesMax } = await playFleet(plan, 2, watch);
  expect(done).toEqual({ nodes: 52, cohorts: 2 });
  expect(tally).toMatchObject({ nodes: 52, builtUp: 20, broken: [] });
  // Both workers and this process, which alone has had as much as this.
  expect(rssBytesMax).toBeGreaterThan(process.resourceUsage().maxRSS * 1_024 + 2 * 50 * 1_048_576);
  expect(Object.keys(tally.hashes).toSorted()).toEqual(["0", "1"]);
  expect((await playCohort(plan, 1)).hashes["1"]).toBe(tally.hashes["1"] as string);
}, 120_000);

test("readFleet names the option and the value that cannot be used", () => {
  expect(readFleet(["--nodes", "0"])).toBe(
    'Cannot use --nodes as it must be a whole number from 1 to 100000: current value is "0"',
  );
  expect(readFleet(["-o", "yaml"])).toBe('Cannot use -o as it must be text or json: current value is "yaml"');
  expect(readFleet(["--hours", "1.5"])).toContain("--hours");
  expect(readFleet(["--pods", "2"])).toContain("--pods");
  expect(readFleet(["--workers", "2", "-o", "json"])).toMatchObject({
    plan: { seed: 1, nodes: 5_000, podsPerNode: 250, hours: 1, cohortNodesMax: 125 },
    workers: 2,
    isJson: true,
  });
});

test("peakBytes keeps what was given back", () => {
  let much: Uint8Array | undefined = new Uint8Array(400 * 1_048_576).fill(1);
  expect(much.length).toBeGreaterThan(0);
  much = undefined;
  Bun.gc(true);
  expect(peakBytes()).toBeGreaterThan(400 * 1_048_576);
});
