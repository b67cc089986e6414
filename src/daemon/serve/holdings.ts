/**
 * What a call has taken and gives back at its end, the last first. As DisposableStack, in fewer bytes: every call in line
 * has one, and it nearly always holds one thing, the container's turn. Nothing in it may throw when it is given back.
 */
export class Holdings implements Disposable {
  #first: Disposable | undefined;
  #more: Disposable[] | undefined;

  use(held: Disposable): void {
    if (this.#first === undefined) this.#first = held;
    else (this.#more ??= []).push(held);
  }

  /** Everything to a new owner: nothing is given back here any more. */
  move(): Holdings {
    const moved = new Holdings();
    moved.#first = this.#first;
    moved.#more = this.#more;
    this.#first = undefined;
    this.#more = undefined;
    return moved;
  }

  [Symbol.dispose](): void {
    // Moved first, so that it is given back once however often this is called.
    const given = this.move();
    for (const held of given.#more?.toReversed() ?? []) held[Symbol.dispose]();
    given.#first?.[Symbol.dispose]();
  }
}
