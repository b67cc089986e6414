import type { IncomingMessage } from "node:http";
import { Refused } from "./refusal.ts";

/** A typed name, a hash and a reason of 1,024 characters. */
const bodyBytesMax = 16_384;
/** A longer body is read to its end and dropped, or its sender would not see the answer; beyond this it is cut off. */
const droppedBytesMax = 1_048_576;

export async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request) {
    const chunk = Buffer.from(part as Uint8Array);
    bytes += chunk.length;
    if (bytes > droppedBytesMax) break;
    if (bytes <= bodyBytesMax) parts.push(chunk);
  }
  if (bytes > bodyBytesMax) throw new Refused("too-long");
  return Buffer.concat(parts).toString("utf8");
}
