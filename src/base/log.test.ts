import { expect, test } from "bun:test";
import { JsonLogger, type LogLevel } from "./log.ts";
import { VirtualClock } from "./virtual-clock.fixture.ts";

function setUp(level: LogLevel): {
  readonly clock: VirtualClock;
  readonly logger: JsonLogger;
  readonly lines: string[];
  readonly said: () => readonly unknown[];
} {
  const clock = new VirtualClock();
  const lines: string[] = [];
  const logger = new JsonLogger({ clock, level, write: (line) => lines.push(line) });
  return { clock, logger, lines, said: () => lines.map((line) => JSON.parse(line) as unknown) };
}

test("JsonLogger writes one object a line, from its level up", () => {
  const { logger, lines } = setUp("warn");
  logger.info("quiet");
  logger.warn("heard", { reason: "a\nb", count: 2, absent: undefined, names: ["a", "b"] });
  expect(lines).toEqual([
    '{"time":"2023-11-14T22:13:20.000Z","level":"warn","message":"heard","reason":"a\\nb","count":2,"names":["a","b"]}\n',
  ]);
  expect([...logger.written]).toEqual([
    ["debug", 0],
    ["info", 0],
    ["warn", 1],
    ["error", 0],
  ]);
});

test("JsonLogger writes nothing that a terminal would obey, and loses nothing", () => {
  const { logger, lines } = setUp("debug");
  const nasty = "\u001b[2J\u0007\u007f\u009b31m\u202etxet\u2066 é 💥";
  logger.error("x", { reason: nasty });
  expect(lines[0]).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ reason: nasty });
});

test("JsonLogger gets louder and quieter step by step, logs it, and stays within its levels", () => {
  const { logger, said } = setUp("info");
  logger.turn("louder");
  logger.debug("told");
  logger.turn("louder");
  for (let step = 0; step < 4; step += 1) logger.turn("quieter");
  logger.warn("not told");
  const levels = ["debug", "debug", "info", "warn", "error", "error"];
  expect(said().filter((line) => (line as { logLevel?: string }).logLevel !== undefined)).toMatchObject(
    levels.map((logLevel) => ({ logLevel })),
  );
  expect(said()[1]).toMatchObject({ level: "debug", message: "told" });
  expect(said()).toHaveLength(7);
});

test("JsonLogger sums up lines that repeat, but not at debug", async () => {
  const loud = setUp("debug");
  for (let index = 0; index < 30; index += 1) loud.logger.error("again");
  expect(loud.lines).toHaveLength(30);
  const { logger, said, clock } = setUp("info");
  for (let index = 0; index < 30; index += 1) logger.error("again");
  expect(said()).toHaveLength(1);
  await clock.advance(10_000);
  expect(said()[1]).toMatchObject({ level: "error", message: "again", times: 29, withinMs: 10_000 });
  expect(logger.summed).toBe(29);
});
