/** Tells that the caller has given up: an AbortSignal, or the smaller `GivenUp`. */
export interface Departure {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: DepartureListener, options: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: DepartureListener): void;
}

/** Why the caller gave up, as an error to reject a promise with. */
export function departureError({ reason }: Departure): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** An object, so that a waiting call can be its own listener and needs no closure. */
interface DepartureListener {
  handleEvent(): void;
}

/**
 * A small AbortSignal that can be aborted once. It makes a real one only on request: a real one takes half a KiB outside
 * of the heap with its listeners, and thousands of calls may wait.
 */
export class GivenUp implements Departure {
  #reason: Error | undefined;
  #listener: DepartureListener | undefined;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): Error | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  /** Only the first reason counts. */
  giveUp(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.handleEvent();
    this.#controller?.abort(reason);
  }

  /** There is hardly ever more than one listener at a time. Further ones listen to the real signal. */
  addEventListener(type: "abort", listener: DepartureListener, options: { readonly once: true }): void {
    if (this.#listener === undefined && !this.aborted) this.#listener = listener;
    else this.signal.addEventListener(type, listener, options);
  }

  removeEventListener(type: "abort", listener: DepartureListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#controller?.signal.removeEventListener(type, listener);
  }
}
