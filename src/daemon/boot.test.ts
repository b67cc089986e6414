import { expect, test } from "bun:test";
import { bootWallMsIn, kernelBoot } from "./boot.ts";

test("bootWallMs is what the kernel says, and in the past", async () => {
  const uptimeMs = Number((await Bun.file("/proc/uptime").text()).split(" ")[0]) * 1_000;
  expect(Math.abs(Date.now() - uptimeMs - (await (await kernelBoot()).beganWallMs()))).toBeLessThan(5_000);
});

test("bootWallMsIn reads the seconds among the other lines, and refuses a text without them", () => {
  expect(bootWallMsIn("cpu  1 2\nctxt 5\nbtime 1700000000\nprocesses 9\n")).toBe(1_700_000_000_000);
  expect(() => bootWallMsIn("cpu  1 2\n")).toThrow("Cannot read when this boot began: /proc/stat has no btime");
});
