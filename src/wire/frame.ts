import { LeveeError } from "../base/errors.ts";
import { FrameType, frameTypeByNumber, type FrameTypeName } from "./frame-type.ts";
import { tagNumber, type TagName } from "./tag.ts";

/** The newest protocol version this build speaks. See docs/protocol.md. */
export const protocolVersion = 3;

/** The oldest one. Nodes run shims of before an upgrade until their image is replaced, so an old version goes late. */
export const protocolVersionMin = 1;

/** A configuration of 256 KiB with its undo copy fits; a runaway peer does not. */
export const frameBytesMax = 1_048_576;

/** Far above what any frame needs. Each field costs an object, so a frame of nothing but empty ones would cost 20 MiB. */
export const frameFieldsMax = 4_096;

/**
 * One decoded frame: its type, its bytes, and where its fields lie in them. An outcome has a dozen fields of which most
 * are read once, so nothing is made for a field before somebody asks for it.
 */
export interface Frame {
  readonly type: FrameTypeName;
  readonly payload: Uint8Array;
  /** In order, three numbers a field: its tag, where its value begins and where it ends. */
  readonly places: readonly number[];
}

type FieldValue = string | number | bigint | boolean | Uint8Array;

/** A field ready to be sent; `undefined` values are left out, so optional fields read naturally at the call site. */
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

/** Decodes the payload of one frame (without its length). Unknown tags are nobody's, an unknown type is an error. */
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

/** Where in `places` the first field of that tag is; -1 when there is none. */
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
  const value = bytesField(frame, tag);
  if (value === undefined) return undefined;
  try {
    return utf8.decode(value);
  } catch (cause) {
    throw new LeveeError("protocol-violated", `Cannot read field ${tag} of a ${frame.type} frame: it is not UTF-8`, {
      cause,
    });
  }
}

export function numberField(frame: Frame, tag: TagName): number | undefined {
  const at = numberPlace(frame, tag);
  if (at < 0) return undefined;
  const value = uint32(frame.payload, at + 4) * 2 ** 32 + uint32(frame.payload, at);
  if (value > Number.MAX_SAFE_INTEGER) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot read field ${tag} of a ${frame.type} frame: ${uint64(frame.payload, at)} is too large`,
    );
  }
  return value;
}

/** For device and inode numbers, which use all 64 bits on some file systems. */
export function bigintField(frame: Frame, tag: TagName): bigint | undefined {
  const at = numberPlace(frame, tag);
  return at < 0 ? undefined : uint64(frame.payload, at);
}

/** Where the eight bytes of a number begin; -1 when the field is not there. */
function numberPlace(frame: Frame, tag: TagName): number {
  const place = placeOf(frame, tag);
  if (place < 0) return -1;
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

/** The field that the protocol says must be there. */
export function required<T>(value: T | undefined, frame: Frame, tag: TagName): T {
  if (value === undefined)
    throw new LeveeError("protocol-violated", `Cannot use a ${frame.type} frame without its field ${tag}`);
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function sizeOf(value: FieldValue): number {
  if (typeof value === "string") return Buffer.byteLength(value, "utf8");
  return value instanceof Uint8Array ? value.length : 8;
}

/** Returns the offset past it. */
function writeValue(frame: Buffer, value: FieldValue, at: number): number {
  if (typeof value === "string") return at + frame.write(value, at, "utf8");
  if (value instanceof Uint8Array) {
    frame.set(value, at);
    return at + value.length;
  }
  if (typeof value === "bigint") return frame.writeBigUInt64LE(value, at);
  return writeCount(frame, Number(value), at);
}

/** Without a bigint for each: nearly every number here is small. */
function writeCount(frame: Buffer, value: number, at: number): number {
  if (!Number.isSafeInteger(value) || value < 0) return frame.writeBigUInt64LE(BigInt(value), at);
  frame.writeUInt32LE(value % 2 ** 32, at);
  return frame.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}

/** By hand: making a view of the bytes for it takes ten times as long. */
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
