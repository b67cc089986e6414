import { expect, test } from "bun:test";
import { LineReader } from "./line-reader.ts";

test("LineReader refuses a line that never ends, however small its pieces", () => {
  const reader = new LineReader(10);
  expect([...reader.push(Buffer.from("01234\n56789"))]).toEqual(["01234"]);
  expect([...reader.push(Buffer.from("01234"))]).toEqual([]);
  expect(reader.pendingBytes).toBe(10);
  expect(() => [...reader.push(Buffer.from("5"))]).toThrow("more than 10 bytes");
});
