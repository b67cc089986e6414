type Outcome = "√" | "×" | "·";

/** The cases to show, in order, each with its outcome. Some run by themselves while other tests are at work. */
export class CaseList {
  readonly #outcomes = new Map<string, Outcome>();
  readonly #running = new Map<string, PromiseWithResolvers<void>>();
  #ended: Promise<void> = Promise.resolve();

  constructor(names: readonly string[]) {
    for (const name of names) this.#outcomes.set(name, "·");
  }

  /** Notes what comes of it. */
  async watch(name: string, work: Promise<void>): Promise<void> {
    try {
      await work;
      this.#outcomes.set(name, "√");
    } catch (thrown) {
      this.#outcomes.set(name, "×");
      throw thrown;
    }
  }

  /** One after the other, whatever comes of each; `outcome` waits for one of them. */
  begin(cases: readonly (readonly [name: string, act: () => Promise<void>])[]): void {
    this.#ended = this.#runAll(cases);
  }

  outcome(name: string): Promise<void> {
    return this.#resolvers(name).promise;
  }

  settled(): Promise<void> {
    return this.#ended;
  }

  print(): void {
    for (const [name, outcome] of this.#outcomes) console.log(`  ${outcome} ${name}`);
  }

  async #runAll(cases: readonly (readonly [name: string, act: () => Promise<void>])[]): Promise<void> {
    for (const [name, act] of cases) {
      const { resolve, reject } = this.#resolvers(name);
      await this.watch(name, act()).then(resolve, reject);
    }
  }

  #resolvers(name: string): PromiseWithResolvers<void> {
    const known = this.#running.get(name);
    if (known !== undefined) return known;
    const made = Promise.withResolvers<void>();
    // `outcome` passes the error on, but it may not have been called yet.
    made.promise.catch(() => undefined);
    this.#running.set(name, made);
    return made;
  }
}
