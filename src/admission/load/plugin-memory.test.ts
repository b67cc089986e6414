import { expect, test } from "bun:test";
import { PluginMemory } from "./plugin-memory.ts";
import { mib } from "../admission.fixture.ts";

test("predict is the largest of the networks' peaks, as plugins run one after another", () => {
  const memory = new PluginMemory();
  expect(memory.predict(["p"])).toBe(48 * mib);
  memory.ran("p", 10 * mib);
  memory.ran("x", 30 * mib);
  expect([memory.predict(["p"]), memory.predict(["p", "x"]), memory.predict([])]).toEqual([10 * mib, 30 * mib, 0]);
});

test("predictHung is what the network's plugins have had, and little of one that never ended", () => {
  const memory = new PluginMemory();
  expect(memory.predictHung("p")).toBe(16 * mib);
  memory.ran("p", 30 * mib);
  expect(memory.predictHung("p")).toBe(30 * mib);
});

test("ran believes a larger peak at once and a smaller one slowly", () => {
  const memory = new PluginMemory();
  memory.ran("p", 10 * mib);
  memory.ran("p", 50 * mib);
  expect(memory.predict(["p"])).toBe(50 * mib);
  memory.ran("p", 10 * mib);
  expect(memory.predict(["p"])).toBe(46 * mib);
});

test("fits lets one run after any number of others, whatever their peaks were", () => {
  const memory = new PluginMemory();
  memory.observed({ limitBytes: 8 * mib, usageBytes: 8 * mib });
  for (let peakBytes = 40 * mib + 7; peakBytes > mib; peakBytes = Math.floor(peakBytes * 0.9)) {
    memory.ran("p", peakBytes);
    memory.ran("q", peakBytes / 3);
    const taken = [memory.predict(["p"]), memory.predict(["q"]), memory.predict(["x"])];
    for (const bytes of taken) memory.taken(bytes);
    expect(memory.fits(1)).toBe(false);
    for (const bytes of taken) memory.freed(bytes);
    expect(memory.fits(4_000 * mib)).toBe(true);
  }
});

test("fits keeps to half of what the runtime's cgroup has free, but always lets one run", () => {
  const memory = new PluginMemory();
  memory.taken(40 * mib);
  memory.observed({ limitBytes: 200 * mib, usageBytes: 80 * mib });
  // 40 of the 80 in use are what runs here: 160 are free, half of that may be used.
  expect([memory.fits(40 * mib), memory.fits(41 * mib)]).toEqual([true, false]);
  memory.freed(40 * mib);
  expect(memory.fits(4_000 * mib)).toBe(true);
  memory.observed({ limitBytes: undefined, usageBytes: 80 * mib });
  memory.taken(4_000 * mib);
  expect(memory.fits(4_000 * mib)).toBe(true);
});
