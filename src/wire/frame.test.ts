import { expect, test } from "bun:test";
import { FrameType, frameTypeByNumber } from "./frame-type.ts";
import { FrameReader } from "./frame-reader.ts";
import {
  bigintField,
  bytesField,
  bytesFields,
  decodeFrame,
  encodeFrame,
  flagField,
  frameBytesMax,
  frameFieldsMax,
  lossyTexts,
  numberField,
  textField,
} from "./frame.ts";

/** The payload of an encoded frame, without its length. */
function payload(frame: Uint8Array): Uint8Array {
  return frame.subarray(4);
}

test("encodeFrame and decodeFrame agree on every kind of field", () => {
  const frame = decodeFrame(
    payload(
      encodeFrame("RUN", [
        ["step", 7],
        ["plugin", "brücke"],
        ["env", "A=1"],
        ["env", "B=2"],
        ["stdin", Buffer.from([0, 255])],
        ["netns_ino", 2n ** 63n],
        ["timed_out", true],
        ["message", undefined],
      ]),
    ),
  );
  expect(frame.type).toBe("RUN");
  expect(numberField(frame, "step")).toBe(7);
  expect(textField(frame, "plugin")).toBe("brücke");
  expect(bytesFields(frame, "env").map((value) => Buffer.from(value).toString())).toEqual(["A=1", "B=2"]);
  expect(bigintField(frame, "netns_ino")).toBe(2n ** 63n);
  expect(flagField(frame, "timed_out")).toBe(true);
  expect(textField(frame, "message")).toBeUndefined();
});

test("decodeFrame skips fields it does not know, so newer peers may send more", () => {
  const known = payload(encodeFrame("ACK", [["printed", 1]]));
  const newer = Buffer.concat([known, Buffer.from([250, 2, 0, 0, 0, 9, 9])]);
  expect(flagField(decodeFrame(newer), "printed")).toBe(true);
});

test.each([
  ["an empty payload", Buffer.alloc(0)],
  ["an unknown type", Buffer.from([63])],
  ["a field without its length", Buffer.from([FrameType.ACK, 44, 1])],
  ["a field that runs past its frame", Buffer.from([FrameType.ACK, 44, 255, 255, 255, 255])],
])("decodeFrame refuses %s", (_what, bytes) => {
  expect(() => decodeFrame(bytes)).toThrow(expect.objectContaining({ code: "protocol-violated" }));
});

test("numberField refuses a number of another length and one that is too large", () => {
  const short = decodeFrame(Buffer.from([FrameType.ACK, 44, 1, 0, 0, 0, 1]));
  expect(() => numberField(short, "printed")).toThrow("a number has 8 bytes, this one 1");
  const large = decodeFrame(payload(encodeFrame("ACK", [["printed", 2n ** 60n]])));
  expect(() => numberField(large, "printed")).toThrow("too large");
});

test("textField refuses bytes that are not UTF-8", () => {
  const frame = decodeFrame(payload(encodeFrame("CALL", [["verb", Buffer.from([0xff])]])));
  expect(() => textField(frame, "verb")).toThrow("not UTF-8");
});

test("textField takes the character that stands for bytes that are not UTF-8, and lossyTexts puts it there", () => {
  const frame = decodeFrame(
    payload(
      encodeFrame("OUTCOME", [
        ["message", "\ufeffa \ufffd b"],
        ["link", "brücke"],
        ["link", Buffer.from([0x61, 0xff, 0x62])],
        ["link", ""],
      ]),
    ),
  );
  expect(textField(frame, "message")).toBe("\ufeffa \ufffd b");
  // Also where the payload is a view of plain bytes.
  const bytes = new Uint8Array([0, ...frame.payload, 0]).subarray(1, frame.payload.length + 1);
  for (const one of [frame, decodeFrame(bytes)]) expect(lossyTexts(one, "link")).toEqual(["brücke", "a\ufffdb", ""]);
});

test("encodeFrame refuses a frame over the limit", () => {
  expect(() => encodeFrame("CONFIG", [["config", new Uint8Array(frameBytesMax)]])).toThrow("larger than 1048576");
});

test("FrameReader gives the same frames however the bytes are cut", () => {
  const frames = [
    encodeFrame("GO", []),
    encodeFrame("CONFIG", [["config", "x".repeat(5_000)]]),
    encodeFrame("ACK", [["printed", 1]]),
  ];
  const stream = Buffer.concat(frames);
  for (const size of [1, 2, 3, 7, 100, 4_096, stream.length]) {
    const reader = new FrameReader();
    const types: string[] = [];
    for (let at = 0; at < stream.length; at += size)
      types.push(...reader.push(stream.subarray(at, at + size)).map((frame) => frame.type));
    expect(types).toEqual(["GO", "CONFIG", "ACK"]);
    expect(reader.isPartial).toBe(false);
  }
});

test("FrameReader refuses a length of zero or over the limit as soon as it is known", () => {
  expect(() => new FrameReader().push(Buffer.from([0, 0, 0, 0]))).toThrow("current value is 0");
  expect(() => new FrameReader().push(Buffer.from([255, 255, 255, 255]))).toThrow("current value is 4294967295");
});

test("FrameReader says when the stream ends inside a frame", () => {
  const reader = new FrameReader();
  expect(reader.push(encodeFrame("ACK", [["printed", 1]]).subarray(0, 9))).toEqual([]);
  expect(reader.isPartial).toBe(true);
});

test("ten thousand random mutations of a frame give a frame or an error of the catalogue, never anything else", () => {
  const original = payload(
    encodeFrame("CALL", [
      ["version_min", 1],
      ["version_max", 1],
      ["verb", "ADD"],
      ["container_id", "abc"],
      ["config_length", 12],
    ]),
  );
  let read = 0;
  for (let turn = 0; turn < 10_000; turn += 1) {
    const mutated = Buffer.from(original);
    for (let change = 0; change <= turn % 4; change += 1)
      mutated[Math.floor(Math.random() * mutated.length)] = Math.floor(Math.random() * 256);
    try {
      const frame = decodeFrame(mutated.subarray(0, 1 + Math.floor(Math.random() * mutated.length)));
      expect(frameTypeByNumber.get(FrameType[frame.type])).toBe(frame.type);
      read += 1;
    } catch (error) {
      expect(error).toMatchObject({ code: "protocol-violated" });
    }
  }
  expect(read).toBeGreaterThan(0);
});

test("decodeFrame takes as many fields as allowed and not one more, known or not", () => {
  const fields = (count: number): Buffer =>
    Buffer.concat([Buffer.from([FrameType.RUN]), Buffer.alloc(5 * count, Buffer.from([250, 0, 0, 0, 0]))]);
  expect(decodeFrame(fields(frameFieldsMax)).places).toHaveLength(3 * frameFieldsMax);
  expect(() => decodeFrame(fields(frameFieldsMax + 1))).toThrow("more than 4096 fields");
});

test("FrameReader takes a frame that comes byte by byte, and frames stay as they were", () => {
  const config = Buffer.alloc(20_000, "x");
  const stream = Buffer.concat([encodeFrame("CONFIG", [["config", config]]), encodeFrame("ACK", [["printed", 1]])]);
  const reader = new FrameReader();
  const frames = [...stream].flatMap((_, at) => reader.push(stream.subarray(at, at + 1)));
  stream.fill(0);
  expect(frames.map(({ type }) => type)).toEqual(["CONFIG", "ACK"]);
  expect(Buffer.from(frames[0] === undefined ? [] : (bytesField(frames[0], "config") ?? [])).equals(config)).toBe(true);
});
