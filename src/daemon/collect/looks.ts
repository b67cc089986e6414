/**
 * Since when something has been seen at every look. One look is no proof: a sandbox that the runtime is tearing down,
 * or a view that is late, looks the same for a moment.
 */
export class Looks {
  #sinceMs = new Map<string, number>();

  /** One look: what is not among the keys any more starts anew when it comes back. */
  note(keys: Iterable<string>, nowMs: number): void {
    const sinceMs = new Map<string, number>();
    for (const key of keys) sinceMs.set(key, this.#sinceMs.get(key) ?? nowMs);
    this.#sinceMs = sinceMs;
  }

  /** How long it has been seen; zero at the first look, undefined when the last one did not see it. */
  ageMs(key: string, nowMs: number): number | undefined {
    const sinceMs = this.#sinceMs.get(key);
    return sinceMs === undefined ? undefined : nowMs - sinceMs;
  }
}
