import { expect, test } from "bun:test";
import { Seeded } from "../time/seeded.ts";
import { SimTime } from "../time/sim-time.ts";
import { PausableProcess } from "./pausable-process.ts";

const never = (): boolean => false;

test("a process that stands still does what was due when it goes on, in its order, and its clock has gone on", async () => {
  const time = new SimTime();
  const process = new PausableProcess(time, new Seeded(1), 500);
  const seen: string[] = [];
  process.after(10, () => seen.push(`a ${process.monotonicMs()}`));
  process.after(20, () => seen.push("b"));
  const cancel = process.after(30, () => seen.push("cancelled"));
  process.every(15, () => seen.push("tick"));
  time.after(5, () => process.pause());
  time.after(40, cancel);
  await time.run(50, never);
  expect(seen).toEqual([]);
  process.resume();
  await time.run(50.5, never);
  expect(seen).toEqual(["a 50", "tick", "b"]);
  expect(process.wallMs() - time.wallMs).toBe(500);
});

test("a killed process never goes on", async () => {
  const time = new SimTime();
  const process = new PausableProcess(time, new Seeded(1), 0);
  const seen: string[] = [];
  process.after(10, () => seen.push("a"));
  process.pause();
  await time.run(20, never);
  process.kill();
  process.resume();
  await time.run(30, never);
  expect(seen).toEqual([]);
});
