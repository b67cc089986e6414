import { expect, test } from "bun:test";
import { VirtualClock } from "../../src/base/virtual-clock.fixture.ts";
import { killAgainAndAgain, killVerdict } from "./kill2s.ts";

const seen = { pods: 219, attached: 219, tookMs: 2_100, kills: 1, failed: 0, left: "" };

test("killVerdict holds only after a kill, with every pod attached, no failure and nothing left", () => {
  expect(killVerdict(seen)).toEqual({
    promise:
      "219 pods while the daemon is killed after 0.5 s and then every 2 s: at least one kill, all attached, no ADD failed, nothing leaked",
    seen: "219 in 2.10 s over 1 kill, 0 failed, left behind: nothing",
    holds: true,
  });
  for (const worse of [{ kills: 0 }, { attached: 218 }, { failed: 1 }, { left: "1 leaks" }])
    expect(killVerdict({ ...seen, ...worse }).holds).toBe(false);
});

test("killAgainAndAgain kills within a storm of a second, then every 2 s until it is cancelled", async () => {
  const clock = new VirtualClock();
  const kills: number[] = [];
  const stop = killAgainAndAgain(clock, () => kills.push(clock.monotonicMs()));
  await clock.advance(4_600);
  stop();
  await clock.advance(10_000);
  expect(kills).toEqual([500, 2_500, 4_500]);
  killAgainAndAgain(clock, () => kills.push(clock.monotonicMs()))();
  await clock.advance(10_000);
  expect(kills).toHaveLength(3);
});
