/** SHA-256 of the parts one after another, in hex. Uses the global `crypto`: `node:crypto` costs a mebibyte. */
export async function sha256Hex(...parts: readonly (string | Uint8Array)[]): Promise<string> {
  const bytes = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}
