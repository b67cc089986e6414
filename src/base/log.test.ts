import { expect, test } from "bun:test";
import { systemClock } from "./clock.ts";
import { jsonLogger } from "./log.ts";

test("jsonLogger writes one object a line, from its level up", () => {
  const lines: string[] = [];
  const logger = jsonLogger(systemClock, "warn", (line) => lines.push(line));
  logger.info("quiet");
  logger.warn("heard", { reason: "a\nb", count: 2, absent: undefined });
  expect(lines.length).toBe(1);
  expect(lines[0]?.endsWith("\n")).toBe(true);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "warn", message: "heard", reason: "a\nb", count: 2 });
});

test("jsonLogger writes nothing that a terminal would obey, and loses nothing", () => {
  const lines: string[] = [];
  const nasty = "\u001b[2J\u0007\u007f\u009b31m\u202etxet\u2066 é 💥";
  jsonLogger(systemClock, "debug", (line) => lines.push(line)).error("x", { reason: nasty });
  expect(lines[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ reason: nasty });
});
