/**
 * Since when something has been seen at every look. One look proves nothing: a sandbox that the runtime is removing, or
 * a late view, looks the same for a moment.
 */
export class Looks {
  #sinceMs = new Map<string, number>();

  /** Takes one look. A key that is missing from it starts again from zero when it comes back. */
  note(keys: Iterable<string>, nowMs: number): void {
    const sinceMs = new Map<string, number>();
    for (const key of keys) sinceMs.set(key, this.#sinceMs.get(key) ?? nowMs);
    this.#sinceMs = sinceMs;
  }

  /** Zero at the first look; undefined when the last look did not see the key. */
  ageMs(key: string, nowMs: number): number | undefined {
    const sinceMs = this.#sinceMs.get(key);
    return sinceMs === undefined ? undefined : nowMs - sinceMs;
  }
}
