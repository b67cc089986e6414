/** Counts the calls under way, so that shutdown can wait for them and other work for a lull. A number: a promise for each would add up in a storm. */
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

  /** Resolves as soon as there is none. */
  none(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return (this.#none ??= Promise.withResolvers()).promise;
  }
}
