import { LeveeError } from "../base/errors.ts";
import { FrameType, frameTypeByNumber, type FrameTypeName } from "./frame-type.ts";
import { tagNumber, type TagName } from "./tag.ts";

/** The newest protocol version of this build. See docs/protocol.md. */
export const protocolVersion = 6;

/** The oldest one. Old versions are dropped late, because a node keeps its old shim until the image is replaced. */
export const protocolVersionMin = 1;

/** Enough for a configuration of 256 KiB with its undo copy, and a limit for a runaway peer. */
export const frameBytesMax = 1_048_576;

/** Far above the need of any frame. Each field costs memory: a frame full of empty fields would cost 20 MiB. */
export const frameFieldsMax = 4_096;

/**
 * One decoded frame: its type, its bytes, and the places of its fields. A field is decoded only when it is read,
 * because an outcome has a dozen fields and most are read once.
 */
export interface Frame {
  readonly type: FrameTypeName;
  readonly payload: Uint8Array;
  /** Three numbers for each field in order: its tag, and the start and the end of its value. */
  readonly places: readonly number[];
}

type FieldValue = string | number | bigint | boolean | Uint8Array;

/** A field to send. An `undefined` value is left out, so optional fields read naturally at the call site. */
export type OutgoingField = readonly [TagName, FieldValue | undefined];

const lengthBytes = 4;
const fieldHeaderBytes = 5;

export function encodeFrame(type: FrameTypeName, fields: readonly OutgoingField[]): Uint8Array {
  let size = 1;
  for (const [, value] of fields) if (value !== undefined) size += fieldHeaderBytes + sizeOf(value);
  if (size > frameBytesMax) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot send a ${type} frame as it is larger than ${frameBytesMax} bytes: its size is ${size}`,
    );
  }
  const frame = Buffer.allocUnsafe(lengthBytes + size);
  frame.writeUInt32LE(size, 0);
  frame[lengthBytes] = FrameType[type];
  let at = lengthBytes + 1;
  for (const [tag, value] of fields) {
    if (value === undefined) continue;
    const end = writeValue(frame, value, at + fieldHeaderBytes);
    frame[at] = tagNumber[tag];
    frame.writeUInt32LE(end - at - fieldHeaderBytes, at + 1);
    at = end;
  }
  return frame;
}

/** Decodes the payload of one frame, without its length. Unknown tags are ignored, an unknown type is an error. */
export function decodeFrame(payload: Uint8Array): Frame {
  const number = payload[0] ?? 0;
  const type = frameTypeByNumber.get(number);
  if (type === undefined)
    throw new LeveeError("protocol-violated", `Cannot read a frame of unknown type: its number is ${number}`);
  const places: number[] = [];
  const size = payload.length;
  let at = 1;
  for (let count = 1; at < size; count += 1) {
    if (count > frameFieldsMax) throw tooManyFields(type);
    const begin = at + fieldHeaderBytes;
    if (begin > size) throw truncatedField(type, at);
    const end = begin + uint32(payload, at + 1);
    if (end > size) throw truncatedField(type, at);
    places.push(payload[at] ?? 0, begin, end);
    at = end;
  }
  return { type, payload, places };
}

/** The same frame with another number in one of its fields. */
export function withNumber(frame: Frame, tag: TagName, value: number): Frame {
  const payload = Buffer.from(frame.payload);
  writeCount(payload, value, required(numberPlace(frame, tag), frame, tag));
  return { ...frame, payload };
}

/** A decoded frame as it is sent. */
export function frameBytes({ payload }: Frame): Uint8Array {
  const bytes = Buffer.allocUnsafe(lengthBytes + payload.length);
  bytes.writeUInt32LE(payload.length, 0);
  bytes.set(payload, lengthBytes);
  return bytes;
}

/** The position in `places` of the tag's first field, or -1. */
function placeOf({ places }: Frame, tag: TagName): number {
  const number = tagNumber[tag];
  for (let place = 0; place < places.length; place += 3) if (places[place] === number) return place;
  return -1;
}

function valueAt({ payload, places }: Frame, place: number): Uint8Array {
  return payload.subarray(places[place + 1], places[place + 2]);
}

export function bytesField(frame: Frame, tag: TagName): Uint8Array | undefined {
  const place = placeOf(frame, tag);
  return place < 0 ? undefined : valueAt(frame, place);
}

export function textField(frame: Frame, tag: TagName): string | undefined {
  const place = placeOf(frame, tag);
  if (place < 0) return undefined;
  const text = asBuffer(frame.payload).toString("utf8", frame.places[place + 1], frame.places[place + 2]);
  if (!text.includes(replacement)) return text;
  try {
    return utf8.decode(valueAt(frame, place));
  } catch (cause) {
    throw new LeveeError("protocol-violated", `Cannot read field ${tag} of a ${frame.type} frame: it is not UTF-8`, {
      cause,
    });
  }
}

export function numberField(frame: Frame, tag: TagName): number | undefined {
  const at = numberPlace(frame, tag);
  if (at === undefined) return undefined;
  const value = uint32(frame.payload, at + 4) * 2 ** 32 + uint32(frame.payload, at);
  if (value > Number.MAX_SAFE_INTEGER) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot read field ${tag} of a ${frame.type} frame: ${uint64(frame.payload, at)} is too large`,
    );
  }
  return value;
}

/** For device and inode numbers, which need all 64 bits on some file systems. */
export function bigintField(frame: Frame, tag: TagName): bigint | undefined {
  const at = numberPlace(frame, tag);
  return at === undefined ? undefined : uint64(frame.payload, at);
}

/** Where the eight bytes of a number begin; undefined without the field. */
function numberPlace(frame: Frame, tag: TagName): number | undefined {
  const place = placeOf(frame, tag);
  if (place < 0) return undefined;
  const begin = frame.places[place + 1] ?? 0;
  const length = (frame.places[place + 2] ?? 0) - begin;
  if (length !== 8) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot read field ${tag} of a ${frame.type} frame: a number has 8 bytes, this one ${length}`,
    );
  }
  return begin;
}

export function flagField(frame: Frame, tag: TagName): boolean {
  return (numberField(frame, tag) ?? 0) !== 0;
}

export function bytesFields(frame: Frame, tag: TagName): readonly Uint8Array[] {
  const number = tagNumber[tag];
  const values: Uint8Array[] = [];
  for (let place = 0; place < frame.places.length; place += 3)
    if (frame.places[place] === number) values.push(valueAt(frame, place));
  return values;
}

/** Reads each value of a tag where it lies: a folder has hundreds of entries, and a view of each would cost more. */
export function readFields<T>(
  { payload, places }: Frame,
  tag: TagName,
  read: (bytes: Buffer, begin: number, end: number) => T,
): T[] {
  const number = tagNumber[tag];
  const bytes = asBuffer(payload);
  const values: T[] = [];
  for (let place = 0; place < places.length; place += 3)
    if (places[place] === number) values.push(read(bytes, places[place + 1] ?? 0, places[place + 2] ?? 0));
  return values;
}

/** Texts of others, such as file names: bytes that are not UTF-8 are replaced, not refused. */
export function lossyTexts(frame: Frame, tag: TagName): readonly string[] {
  return readFields(frame, tag, (bytes, begin, end) => bytes.toString("utf8", begin, end));
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The value of a field that the protocol requires. */
export function required<T>(value: T | undefined, frame: Frame, tag: TagName): T {
  if (value === undefined)
    throw new LeveeError("protocol-violated", `Cannot use a ${frame.type} frame without its field ${tag}`);
  return value;
}

/** Stands in a decoded text where the bytes are not UTF-8, or where they say so themselves. */
const replacement = "\ufffd";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function sizeOf(value: FieldValue): number {
  if (typeof value === "string") return Buffer.byteLength(value, "utf8");
  return value instanceof Uint8Array ? value.length : 8;
}

/** Returns the offset past the value. */
function writeValue(frame: Buffer, value: FieldValue, at: number): number {
  if (typeof value === "string") return at + frame.write(value, at, "utf8");
  if (value instanceof Uint8Array) {
    frame.set(value, at);
    return at + value.length;
  }
  if (typeof value === "bigint") return frame.writeBigUInt64LE(value, at);
  return writeCount(frame, Number(value), at);
}

/** Avoids a bigint, because nearly every number is small. */
function writeCount(frame: Buffer, value: number, at: number): number {
  if (!Number.isSafeInteger(value) || value < 0) return frame.writeBigUInt64LE(BigInt(value), at);
  frame.writeUInt32LE(value % 2 ** 32, at);
  return frame.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}

/** Computed by hand, because creating a view of the bytes takes ten times as long. */
export function uint32(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  const high = (bytes[at + 2] ?? 0) | ((bytes[at + 3] ?? 0) << 8);
  return low + high * 65_536;
}

function uint64(bytes: Uint8Array, at: number): bigint {
  return (BigInt(uint32(bytes, at + 4)) << 32n) | BigInt(uint32(bytes, at));
}

function truncatedField(type: FrameTypeName, at: number): LeveeError {
  return new LeveeError("protocol-violated", `Cannot read a ${type} frame: the field at byte ${at} runs past its end`);
}

function tooManyFields(type: FrameTypeName): LeveeError {
  return new LeveeError("protocol-violated", `Cannot read a ${type} frame: it has more than ${frameFieldsMax} fields`);
}
