import { LeveeError } from "../../base/errors.ts";

/** One field of a protobuf message, as it is on the wire. */
interface ProtoField {
  readonly number: number;
  /** Of length-delimited fields: a nested message or a text. Empty for numbers, which are not used. */
  readonly bytes: Uint8Array;
}

/** Yields the fields of a message. Callers ignore unknown ones, so that messages of newer kubelets can be read. */
export function* protoFields(message: Uint8Array): Generator<ProtoField> {
  let at = 0;
  while (at < message.length) {
    const key = varint(message, at);
    const number = Math.floor(key.value / 8);
    const value = fieldValue(message, key.next, key.value % 8);
    yield { number, bytes: value.bytes };
    at = value.next;
  }
}

/** The texts of a repeated string field. */
export function protoTexts(message: Uint8Array, number: number): readonly string[] {
  return protoMessages(message, number).map((bytes) => Buffer.from(bytes).toString("utf8"));
}

export function protoMessages(message: Uint8Array, number: number): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const field of protoFields(message)) if (field.number === number) found.push(field.bytes);
  return found;
}

interface Read<Value> {
  readonly value: Value;
  readonly next: number;
}

const none = new Uint8Array(0);

function fieldValue(message: Uint8Array, at: number, wireType: number): { bytes: Uint8Array; next: number } {
  switch (wireType) {
    case 0:
      return { bytes: none, next: varint(message, at).next };
    case 1:
      return skip(message, at, 8);
    case 2: {
      const { value: length, next } = varint(message, at);
      if (next + length > message.length) throw truncated(at);
      return { bytes: message.subarray(next, next + length), next: next + length };
    }
    case 5:
      return skip(message, at, 4);
    default:
      throw new LeveeError("decode-failed", `Cannot read a protobuf message: wire type ${wireType} at byte ${at}`);
  }
}

function skip(message: Uint8Array, at: number, length: number): { bytes: Uint8Array; next: number } {
  if (at + length > message.length) throw truncated(at);
  return { bytes: none, next: at + length };
}

/** Up to ten bytes of seven bits each. Only a number field can exceed a safe integer, and those are not used. */
function varint(message: Uint8Array, start: number): Read<number> {
  let value = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = message[start + index];
    if (byte === undefined) throw truncated(start);
    value += (byte % 128) * 2 ** (7 * index);
    if (byte < 128) return { value, next: start + index + 1 };
  }
  throw new LeveeError("decode-failed", `Cannot read a protobuf message: a number of over 10 bytes at byte ${start}`);
}

function truncated(at: number): LeveeError {
  return new LeveeError("decode-failed", `Cannot read a protobuf message: it ends within the field at byte ${at}`);
}
