import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { encodeLine, endsCleanly, readLines, type Segment } from "./checked-line.ts";

function segments(file: Buffer | string): readonly Segment[] {
  return [...readLines(Buffer.from(file), "L")];
}

function bodies(file: Buffer | string): readonly string[] {
  return segments(file).flatMap((segment) => (segment.kind === "line" ? segment.body : []));
}

/** A generator with a seed, so that a failure can be repeated. */
function* seeded(start: number): Generator<number, never> {
  let state = start;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state;
  }
}

describe("encodeLine", () => {
  test("covers letter and version with the checksum", () => {
    const line = encodeLine("L", '{"a":1}');
    expect(line).toBe(`L1 ${crc32('L1 {"a":1}').toString(16).padStart(8, "0")} {"a":1}\n`);
    expect(segments(line.replace("L1", "L3"))).toMatchObject([{ kind: "damaged" }]);
    expect([...readLines(Buffer.from(line), "C")]).toMatchObject([{ kind: "damaged" }]);
  });
});

describe("readLines", () => {
  test("gives lines with offset, length and version", () => {
    const first = encodeLine("L", '{"ü":"\u2028"}');
    const second = encodeLine("L", "{}");
    expect(segments(first + second)).toEqual([
      { kind: "line", version: 1, body: '{"ü":"\u2028"}', offset: 0, bytes: Buffer.byteLength(first) },
      { kind: "line", version: 1, body: "{}", offset: Buffer.byteLength(first), bytes: second.length },
    ]);
    expect(segments("")).toEqual([]);
  });

  test("reads the version of a newer line whose checksum is right", () => {
    const sum = crc32("L27 {}").toString(16).padStart(8, "0");
    expect(segments(`L27 ${sum} {}\n`)).toMatchObject([{ kind: "line", version: 27 }]);
  });

  test("takes glued lines apart, however many look like a start", () => {
    const lines = Array.from({ length: 5 }, (_, number) => encodeLine("L", `{"n":${number}}`));
    const glued = lines.join("").replaceAll("\n", "\u000b").slice(0, -1) + "\n";
    expect(bodies(glued)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']);
    const hostile = encodeLine("L", JSON.stringify({ text: "L1 00000000 {} ".repeat(500) }));
    expect(bodies(hostile)).toHaveLength(1);
    expect(bodies(`${lines[0]!.trimEnd()}\u000b${hostile}`)).toContain('{"n":0}');
  });

  test("a line inside another line's text is not taken for a line", () => {
    const inner = encodeLine("L", '{"kind":"removed"}').trimEnd();
    const outer = encodeLine("L", JSON.stringify({ text: inner }));
    const damaged = outer.replace('"text"', '"t3xt"');
    expect(bodies(damaged)).toEqual([]);
  });

  test("empty lines and foreign text are damage, the lines around them are read", () => {
    const line = encodeLine("L", "{}");
    expect(bodies(`${line}\n\nhello\n${line}`)).toEqual(["{}", "{}"]);
    expect(segments(`${line}\n\nhello\n${line}`).map(({ kind }) => kind)).toEqual([
      "line",
      "damaged",
      "damaged",
      "damaged",
      "line",
    ]);
  });

  test("a tail that cannot be the beginning of a line is damage, not a torn write", () => {
    for (const tail of ["x", "L2 ", "L1 0123456g", "L1 01234567{", "L1 01234567 {\u0001"]) {
      expect(segments(tail)).toMatchObject([{ kind: "damaged", offset: 0 }]);
    }
    for (const tail of [
      "L",
      "L1",
      "L1 ",
      "L1 0123",
      "L1 01234567",
      "L1 01234567 ",
      'L1 01234567 {"a',
      "\0\0\0",
      "L1 0\0\0",
    ]) {
      expect(segments(tail)).toMatchObject([{ kind: "torn", offset: 0, bytes: tail.length }]);
    }
  });

  test("ten thousand random mutations: never a throw, untouched lines kept", () => {
    const random = seeded(42);
    const lines = Array.from({ length: 6 }, (_, number) =>
      encodeLine("L", JSON.stringify({ number, pad: "z".repeat(number * 7) })),
    );
    const starts = lines.map((_, index) => lines.slice(0, index).join("").length);
    for (let round = 0; round < 10_000; round += 1) {
      const file = Buffer.from(lines.join(""));
      const at = random.next().value % file.length;
      file[at] = random.next().value % 256;
      const found = bodies(file);
      const hit = starts.findLastIndex((start) => start <= at);
      const expected = lines.filter((_, index) => index !== hit).map((line) => line.slice(12, -1));
      for (const body of expected) expect(found.includes(body)).toBe(true);
    }
  });
});

describe("endsCleanly", () => {
  test("wants a newline at the end, or nothing at all", () => {
    expect([Buffer.from(""), Buffer.from("a\n"), Buffer.from("a")].map(endsCleanly)).toEqual([true, true, false]);
  });
});
