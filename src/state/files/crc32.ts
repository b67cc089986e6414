/**
 * The usual CRC-32, with text as UTF-8. `before` is the checksum of the preceding data. It uses Bun's own, because
 * `node:zlib` costs an idle daemon nearly 2 MiB (ADR 0025).
 */
export function crc32(data: string | Uint8Array, before = 0): number {
  return Bun.hash.crc32(data, before);
}
