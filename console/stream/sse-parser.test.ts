import { describe, expect, test } from "bun:test";
import { StreamParser } from "./sse-parser.ts";

describe("StreamParser", () => {
  test("puts events together, however the text is cut", () => {
    const text = `event: snapshot\nid: 7\ndata: {"a":\ndata: 1}\n\n: still here\n\nevent: end\ndata: x\n\n`;
    for (const size of [1, 3, 7, text.length]) {
      const parser = new StreamParser();
      const parts = Array.from({ length: Math.ceil(text.length / size) }, (_unused, index) =>
        text.slice(index * size, (index + 1) * size),
      );
      expect(parts.flatMap((part) => parser.push(part))).toEqual([
        { event: "snapshot", id: "7", data: `{"a":\n1}` },
        { event: "end", id: "7", data: "x" },
      ]);
    }
  });

  test("takes the line ends of every system, and a field without a value", () => {
    const parser = new StreamParser();
    expect(parser.push("data:a\r\ndata\r\n\r\n")).toEqual([{ event: "message", id: "", data: "a\n" }]);
    expect(parser.push("retry: 5\n\n")).toEqual([]);
  });

  test("gives up on an event without an end", () => {
    const parser = new StreamParser();
    const part = "x".repeat(32 * 1024 * 1024);
    parser.push(part);
    parser.push(part);
    expect(() => parser.push("x")).toThrow("without an end");
  });
});
