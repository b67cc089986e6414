import { expect, test } from "bun:test";
import { protoFields, protoMessages, protoTexts } from "./protobuf.ts";

test("protoTexts reads repeated texts and passes over numbers of every size", () => {
  const message = Buffer.concat([
    Buffer.from([0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), // field 1: -1
    Buffer.from([0x11, 1, 2, 3, 4, 5, 6, 7, 8]), // field 2: 64 bits
    Buffer.from([0x1d, 1, 2, 3, 4]), // field 3: 32 bits
    Buffer.from([0x22, 2, 0x61, 0x62]), // field 4: "ab"
    Buffer.from([0x22, 0]), // field 4: ""
    Buffer.from([0x82, 0x01, 1, 0x63]), // field 16: "c"
  ]);
  expect(protoTexts(message, 4)).toEqual(["ab", ""]);
  expect(protoTexts(message, 16)).toEqual(["c"]);
  expect(protoMessages(message, 99)).toEqual([]);
});

test.each([
  ["a text that is cut off", [0x22, 5, 0x61]],
  ["a length that is cut off", [0x22, 0x80]],
  ["a key that is cut off", [0x80]],
  ["a number that never ends", [0x08, ...Array.from({ length: 11 }, () => 0x80)]],
  ["a 64-bit number that is cut off", [0x11, 1, 2]],
  ["a wire type that does not exist", [0x0f]],
  ["a length beyond everything", [0x22, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
])("protoFields refuses %s", (_what, bytes) => {
  expect(() => [...protoFields(Buffer.from(bytes))]).toThrow(/^Cannot read a protobuf message/);
});
