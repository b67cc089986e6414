/**
 * The usual CRC-32, of text as UTF-8; `before` is the sum of what stands before it. Bun's own, because `node:zlib` takes
 * nearly 2 MiB of an idle daemon: ADR 0025.
 */
export function crc32(data: string | Uint8Array, before = 0): number {
  return Bun.hash.crc32(data, before);
}
