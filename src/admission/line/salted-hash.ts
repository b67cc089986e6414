/**
 * A 32-bit number for a text (FNV-1a with a final mix). The salt is random at the start, so an attacker cannot choose
 * names that share one shard.
 */
export function saltedHash(text: string, salt: number): number {
  let hash = 2_166_136_261 ^ salt;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
