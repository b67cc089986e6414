/**
 * The things that a call holds and disposes at its end, last first. It works like DisposableStack in fewer bytes: every
 * call in line has one, and nearly always it holds only the container's turn. A dispose must not throw.
 */
export class Holdings implements Disposable {
  #first: Disposable | undefined;
  #more: Disposable[] | undefined;

  use(held: Disposable): void {
    if (this.#first === undefined) this.#first = held;
    else (this.#more ??= []).push(held);
  }

  /** Moves everything to a new owner, and leaves this one empty. */
  move(): Holdings {
    const moved = new Holdings();
    moved.#first = this.#first;
    moved.#more = this.#more;
    this.#first = undefined;
    this.#more = undefined;
    return moved;
  }

  [Symbol.dispose](): void {
    // Moved first, so that a second call disposes nothing.
    const given = this.move();
    for (const held of given.#more?.toReversed() ?? []) held[Symbol.dispose]();
    given.#first?.[Symbol.dispose]();
  }
}
