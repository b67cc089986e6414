import { createHash } from "node:crypto";

/** Git's hash of a file's content, for repositories with hashes of this length. */
export function blobSha(bytes: Uint8Array, digits: 40 | 64): string {
  const hash = createHash(digits === 40 ? "sha1" : "sha256");
  return hash.update(`blob ${bytes.length}\0`, "utf8").update(bytes).digest("hex");
}
