import { expect, test } from "bun:test";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { PluginTimes } from "./plugin-times.ts";

test("medianMs is of the last runs, and a second before the first", () => {
  const times = new PluginTimes(new VirtualClock());
  expect(times.medianMs("p")).toBe(1_000);
  for (const tookMs of [10, 30, 20]) times.ran("p", tookMs, 1);
  expect(times.medianMs("p")).toBe(20);
  for (let run = 0; run < 31; run += 1) times.ran("p", 100, 1);
  expect(times.medianMs("p")).toBe(100);
});

test("baselineMs is the long-term minimum and follows a plugin that has become slower for good", async () => {
  const clock = new VirtualClock();
  const times = new PluginTimes(clock);
  expect(times.baselineMs("p")).toBeUndefined();
  times.ran("p", 30, 1);
  times.ran("p", 90, 4);
  expect(times.baselineMs("p")).toBe(30);
  for (let minute = 0; minute < 11; minute += 1) {
    await clock.advance(60_000);
    times.ran("p", 80, 1);
  }
  expect(times.baselineMs("p")).toBe(80);
});

test("baselineMs does not take a storm that lasts for the measure of itself", async () => {
  const clock = new VirtualClock();
  const times = new PluginTimes(clock);
  times.ran("p", 30, 8);
  for (let minute = 0; minute < 60; minute += 1) {
    await clock.advance(60_000);
    times.ran("p", 300, 8);
  }
  expect(times.baselineMs("p")).toBe(30);
});

test("ran remembers 256 networks and forgets the one that has not run longest", () => {
  const times = new PluginTimes(new VirtualClock());
  for (let network = 0; network <= 256; network += 1) times.ran(`n${network}`, 30, 1);
  expect([times.baselineMs("n0"), times.baselineMs("n1")]).toEqual([undefined, 30]);
});
