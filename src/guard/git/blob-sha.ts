import { createHash } from "node:crypto";

/** Git's own name of a file's content, in the kind of repository whose names have this many digits. */
export function blobSha(bytes: Uint8Array, digits: 40 | 64): string {
  const hash = createHash(digits === 40 ? "sha1" : "sha256");
  return hash.update(`blob ${bytes.length}\0`, "utf8").update(bytes).digest("hex");
}
