import { expect, test } from "bun:test";
import { LogOutput } from "./log-output.ts";
import { VirtualClock } from "./virtual-clock.fixture.ts";

/** A stream that takes text and finishes when the test says so. */
class SlowStream {
  readonly taken: string[] = [];
  readonly #waiting: ((error?: Error) => void)[] = [];

  write(text: string, done: (error?: Error) => void): void {
    this.taken.push(text);
    this.#waiting.push(done);
  }

  settle(error?: Error): void {
    for (const done of this.#waiting.splice(0)) done(error);
  }
}

const line = `${"x".repeat(1_023)}\n`;

test("LogOutput keeps no more than its limit for a stuck reader, and logs how many lines were lost", () => {
  const stream = new SlowStream();
  const output = new LogOutput(stream, new VirtualClock());
  for (let index = 0; index < 1_000; index += 1) output.write(line);
  expect(stream.taken).toHaveLength(256);
  expect(output.dropped).toBe(744);
  stream.settle();
  output.write("next\n");
  output.write("and next\n");
  const [notice = "", next] = (stream.taken[256] ?? "").split("\n");
  expect(JSON.parse(notice)).toMatchObject({ level: "error", lines: 744, time: "2023-11-14T22:13:20.000Z" });
  expect(next).toBe("next");
  expect(stream.taken[257]).toBe("and next\n");
});

test("LogOutput counts the lines that a broken pipe does not take, the line with the number too", () => {
  const stream = new SlowStream();
  const output = new LogOutput(stream, new VirtualClock());
  const broken = new Error("EPIPE");
  for (const text of ["a\n", "b\n", "c\n"]) {
    output.write(text);
    stream.settle(broken);
  }
  expect(output.dropped).toBe(3);
  output.write("d\n");
  expect(stream.taken[3]).toContain('"lines":3');
});
