/** Reproduce a run with LEVEE_SEED=…; what is random in these tests is decided by it. */
export const seed = Number(process.env["LEVEE_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

/** A small generator (xorshift), so that a seed gives the same numbers again. */
export function randomFrom(start: number): () => number {
  let state = start || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
