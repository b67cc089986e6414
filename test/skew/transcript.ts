import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeFrame, type Frame } from "../../src/wire/frame.ts";
import { tagNumber, type TagName } from "../../src/wire/tag.ts";

/**
 * A recorded session: what went over each connection, in the order in which it was seen, byte for byte.
 * One file of `v1/`, `v2/`, … is one transcript; `record.ts` makes them.
 */
export interface Transcript {
  readonly protocol: number;
  readonly software: string;
  readonly about: string;
  readonly events: readonly TranscriptEvent[];
}

export type Side = "shim" | "daemon";

export interface TranscriptEvent {
  readonly connection: number;
  readonly from: Side;
  /** A whole frame with its length, in base64; absent when this side closed the connection. */
  readonly frame?: string;
}

/** One frame of a transcript, read and as it was. */
export interface RecordedFrame {
  readonly from: Side;
  readonly bytes: Buffer;
  readonly frame: Frame;
}

/** The protocol versions that were recorded, one folder each. */
export const recordedVersions = [1, 2, 3, 4] as const;

export function recordingFolder(version: number): string {
  return join(import.meta.dir, `v${version}`);
}

/** Version 1 was recorded together with the journal of its day. */
export const transcriptFolder = recordingFolder(1);

export function loadTranscript(name: string, version = 1): Transcript {
  const text = readFileSync(join(recordingFolder(version), `${name}.json`), "utf8");
  return JSON.parse(text) as Transcript; // written by record.ts
}

/** The frames of one connection, in order. */
export function framesOf(transcript: Transcript, connection: number): readonly RecordedFrame[] {
  return transcript.events
    .filter((event) => event.connection === connection && event.frame !== undefined)
    .map(({ from, frame = "" }) => {
      const bytes = Buffer.from(frame, "base64");
      return { from, bytes, frame: decodeFrame(bytes.subarray(4)) };
    });
}

export function connectionsOf(transcript: Transcript): readonly number[] {
  return [...new Set(transcript.events.map((event) => event.connection))];
}

/** The same frame with one field's value exchanged for another of the same length; everything else stays as recorded. */
export function withField(bytes: Uint8Array, tag: TagName, value: Uint8Array): Buffer {
  const changed = Buffer.from(bytes);
  for (let at = 5; at < changed.length; at += 5 + changed.readUInt32LE(at + 1)) {
    if (changed.readUInt8(at) !== tagNumber[tag]) continue;
    if (changed.readUInt32LE(at + 1) !== value.length) throw new Error(`Cannot exchange ${tag}: another length`);
    changed.set(value, at + 5);
  }
  return changed;
}

export function numberBytes(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** The same frame with fields at its end that no version knows yet: one unknown number, one unknown text, twice. */
export function withUnknownFields(bytes: Uint8Array): Buffer {
  const unknown = [200, 201, 255, 200].map((tag) =>
    Buffer.concat([Buffer.from([tag, 8, 0, 0, 0]), Buffer.from("whatever")]),
  );
  const frame = Buffer.concat([bytes, ...unknown]);
  frame.writeUInt32LE(frame.length - 4, 0);
  return frame;
}

/** The same first frame from a peer that speaks these versions. */
export function withVersions(bytes: Uint8Array, min: number, max: number): Buffer {
  return withField(withField(bytes, "version_min", numberBytes(min)), "version_max", numberBytes(max));
}
