/**
 * SHA-256 of the parts one after another, in hex. `node:crypto` would cost a mebibyte, and the global `crypto` a thread
 * for a few hundred bytes.
 */
export async function sha256Hex(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const part of parts) hasher.update(part);
  return hasher.digest("hex");
}
