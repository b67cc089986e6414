import { LeveeError } from "../base/errors.ts";
import { FrameType, frameTypeByNumber, type FrameTypeName } from "./frame-type.ts";
import { tagByNumber, tagNumber, type TagName } from "./tag.ts";

/** The newest protocol version this build speaks. See docs/protocol.md. */
export const protocolVersion = 3;

/** The oldest one. Nodes run shims of before an upgrade until their image is replaced, so an old version goes late. */
export const protocolVersionMin = 1;

/** A configuration of 256 KiB with its undo copy fits; a runaway peer does not. */
export const frameBytesMax = 1_048_576;

/** Far above what any frame needs. Each field costs an object, so a frame of nothing but empty ones would cost 20 MiB. */
export const frameFieldsMax = 4_096;

/** One decoded frame: its type and its fields in order. Values are bytes; the readers below give them a kind. */
export interface Frame {
  readonly type: FrameTypeName;
  readonly fields: readonly Field[];
}

export interface Field {
  readonly tag: TagName;
  readonly value: Uint8Array;
}

export type FieldValue = string | number | bigint | boolean | Uint8Array;

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
  frame.writeUInt8(FrameType[type], lengthBytes);
  let at = lengthBytes + 1;
  for (const [tag, value] of fields) {
    if (value === undefined) continue;
    const end = writeValue(frame, value, at + fieldHeaderBytes);
    frame.writeUInt8(tagNumber[tag], at);
    frame.writeUInt32LE(end - at - fieldHeaderBytes, at + 1);
    at = end;
  }
  return frame;
}

/** Decodes the payload of one frame (without its length). Unknown tags are skipped, an unknown type is an error. */
export function decodeFrame(payload: Uint8Array): Frame {
  const view = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  const number = view.length > 0 ? view.readUInt8(0) : 0;
  const type = frameTypeByNumber.get(number);
  if (type === undefined)
    throw new LeveeError("protocol-violated", `Cannot read a frame of unknown type: its number is ${number}`);
  const fields: Field[] = [];
  let at = 1;
  for (let count = 1; at < view.length; count += 1) {
    if (count > frameFieldsMax) throw tooManyFields(type);
    if (at + fieldHeaderBytes > view.length) throw truncatedField(type, at);
    const tag = tagByNumber.get(view.readUInt8(at));
    const length = view.readUInt32LE(at + 1);
    const end = at + fieldHeaderBytes + length;
    if (end > view.length) throw truncatedField(type, at);
    if (tag !== undefined) fields.push({ tag, value: view.subarray(at + fieldHeaderBytes, end) });
    at = end;
  }
  return { type, fields };
}

export function bytesField(frame: Frame, tag: TagName): Uint8Array | undefined {
  // A loop, not a closure for each field: an outcome is asked for nineteen tags.
  for (const field of frame.fields) if (field.tag === tag) return field.value;
  return undefined;
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
  const bytes = numberBytes(frame, tag);
  if (bytes === undefined) return undefined;
  const value = bytes.readUInt32LE(4) * 2 ** 32 + bytes.readUInt32LE(0);
  if (value > Number.MAX_SAFE_INTEGER) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot read field ${tag} of a ${frame.type} frame: ${bytes.readBigUInt64LE(0)} is too large`,
    );
  }
  return value;
}

/** For device and inode numbers, which use all 64 bits on some file systems. */
export function bigintField(frame: Frame, tag: TagName): bigint | undefined {
  return numberBytes(frame, tag)?.readBigUInt64LE(0);
}

function numberBytes(frame: Frame, tag: TagName): Buffer | undefined {
  const value = bytesField(frame, tag);
  if (value === undefined) return undefined;
  if (value.length !== 8) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot read field ${tag} of a ${frame.type} frame: a number has 8 bytes, this one ${value.length}`,
    );
  }
  return Buffer.from(value.buffer, value.byteOffset, 8);
}

export function flagField(frame: Frame, tag: TagName): boolean {
  return (numberField(frame, tag) ?? 0) !== 0;
}

export function bytesFields(frame: Frame, tag: TagName): readonly Uint8Array[] {
  return frame.fields.filter((field) => field.tag === tag).map((field) => field.value);
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
  return frame.writeBigUInt64LE(typeof value === "bigint" ? value : BigInt(Number(value)), at);
}

function truncatedField(type: FrameTypeName, at: number): LeveeError {
  return new LeveeError("protocol-violated", `Cannot read a ${type} frame: the field at byte ${at} runs past its end`);
}

function tooManyFields(type: FrameTypeName): LeveeError {
  return new LeveeError("protocol-violated", `Cannot read a ${type} frame: it has more than ${frameFieldsMax} fields`);
}
