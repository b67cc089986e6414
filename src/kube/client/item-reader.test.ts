import { expect, test } from "bun:test";
import { ItemReader, ItemTooLong } from "./item-reader.ts";

function read(text: string, chunkBytes: number): { items: string[]; frame: string } {
  const reader = new ItemReader();
  const bytes = Buffer.from(text);
  const items: string[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) items.push(...reader.push(bytes.subarray(at, at + chunkBytes)));
  return { items, frame: reader.isWhole ? reader.frame() : "not whole" };
}

const tricky = [
  { metadata: { name: "a", items: [{ not: "an item" }] } },
  { value: 'quotes \\" and \\\\ and "], [{ and }' },
  { value: "\\", umlaut: "ä€😀", nested: [[[{}], []]] },
  {},
];

for (const [how, space] of [
  ["compact", 0],
  ["indented", 2],
] as const) {
  for (const order of ["metadata first", "items first"]) {
    test(`ItemReader cuts a ${how} list (${order}) into its items, wherever the packets end`, () => {
      const head = { kind: "PodList", labels: ["x", { items: [1] }], metadata: { resourceVersion: "7", continue: "" } };
      const list = order === "items first" ? { items: tricky, ...head } : { ...head, items: tricky };
      const text = JSON.stringify(list, undefined, space);
      for (let chunkBytes = 1; chunkBytes < 40; chunkBytes += 1) {
        const { items, frame } = read(text, chunkBytes);
        expect(items.map((item) => JSON.parse(item) as unknown)).toEqual(tricky);
        expect(JSON.parse(frame)).toEqual({ ...list, items: [] });
      }
    });
  }
}

test("ItemReader accepts a list without items", () => {
  expect(read('{"metadata":{},"items":null}', 5)).toEqual({ items: [], frame: '{"metadata":{},"items":null}' });
  expect(read('{"metadata":{},"items":[]}', 5)).toEqual({ items: [], frame: '{"metadata":{},"items":[]}' });
});

test("ItemReader notices a list that ends early", () => {
  for (const text of ['{"items":[{}', '{"items":[', '{"a":"']) expect(read(text, 4).frame).toBe("not whole");
});

test("ItemReader refuses an item without an end", () => {
  const reader = new ItemReader();
  const part = Buffer.alloc(6_000_000, "x");
  const push = (bytes: Buffer): readonly string[] => [...reader.push(bytes)];
  for (const bytes of [Buffer.from('{"items":[{"a":"'), part, part]) expect(push(bytes)).toEqual([]);
  expect(() => push(part)).toThrow(ItemTooLong);
});
