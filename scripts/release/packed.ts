import { writeTar, type Entries } from "../debian/tar.ts";

/** Files as .tar.gz: owned by root, with one time for all. The compressor is Bun's own, so that every machine makes the same bytes. */
export function packed(files: Entries, date: Date): Uint8Array {
  return Bun.gzipSync(writeTar(files, date.getTime() / 1_000), { level: 9, library: "libdeflate" });
}
