/**
 * Counts the calls under way. Shutdown waits for them, and other work waits for a lull. It is a number because a promise
 * for each call would add up in a storm.
 */
export class CallsUnderWay {
  #count = 0;
  #none: PromiseWithResolvers<void> | undefined;

  get count(): number {
    return this.#count;
  }

  began(): void {
    this.#count += 1;
  }

  ended(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    this.#none?.resolve();
    this.#none = undefined;
  }

  /** Resolves when no call is under way. */
  none(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return (this.#none ??= Promise.withResolvers()).promise;
  }
}
