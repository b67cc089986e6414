/** The page's only way to time and randomness, so that tests run on a clock of their own. */
export interface PageClock {
  /** Milliseconds since 1970. */
  wallMs(): number;
  /** Never goes back. */
  monotonicMs(): number;
  /** From 0 up to 1. */
  random(): number;
  /** Calls back once; the returned function takes that back. */
  after(ms: number, call: () => void): () => void;
}

export const pageClock: PageClock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
