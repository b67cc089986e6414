import type { ContainerId } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { departureError, type Departure } from "../../base/given-up.ts";

/** The operation that holds or wants a container's turn. */
export interface Holder {
  readonly verb: string;
  cancel(reason: Error): void;
}

/**
 * One operation at a time per container, different containers in parallel, and GC alone. The CNI specification asks
 * this of runtimes; Multus does not enforce it. GC gives way to all others, because pods wait for those.
 */
export class Turns {
  readonly #active = new Map<ContainerId, Holder>();
  readonly #waiting: Waiting[] = [];
  readonly #announced = new Set<{ readonly containerId: ContainerId; readonly holder: Holder }>();
  #alone: Holder | undefined;

  /** Waits for the container's turn. The caller must dispose it on every path. */
  take(containerId: ContainerId, holder: Holder, signal: Departure): Promise<Disposable> {
    return this.#queue({ containerId, holder, signal });
  }

  /** Waits until no operation runs or waits. The next one cancels the holder, and begins when the turn is disposed. */
  takeAlone(holder: Holder, signal: Departure): Promise<Disposable> {
    return this.#queue({ containerId: undefined, holder, signal });
  }

  /** Whether an operation holds or waits for this container. Background work then comes back later. */
  isBusy(containerId: ContainerId): boolean {
    return (
      this.#alone !== undefined ||
      this.#active.has(containerId) ||
      this.#waiting.some((waiting) => waiting.containerId === containerId)
    );
  }

  /** Makes an ADD known to `cancelAdd` while it waits for something else, before it asks for its turn. */
  announce(containerId: ContainerId, holder: Holder): Disposable {
    const announced = { containerId, holder };
    this.#announced.add(announced);
    return { [Symbol.dispose]: () => void this.#announced.delete(announced) };
  }

  /** Asks the ADDs of this container to stop, so that a DEL need not wait for their end. */
  cancelAdd(containerId: ContainerId): void {
    const reason = new LeveeError(
      "cancelled",
      "The attachment was cancelled because the runtime asked to delete the container",
    );
    const holder = this.#active.get(containerId);
    if (holder?.verb === "ADD") holder.cancel(reason);
    for (const waiting of [...this.#waiting, ...this.#announced]) {
      if (waiting.containerId === containerId && waiting.holder.verb === "ADD") waiting.holder.cancel(reason);
    }
  }

  #queue(request: Request): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (request.signal.aborted) {
        reject(departureError(request.signal));
        return;
      }
      const listener = {
        handleEvent: (): void => {
          const at = this.#waiting.indexOf(waiting);
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          reject(departureError(request.signal));
          this.#grant();
        },
      };
      const waiting: Waiting = {
        ...request,
        granted: (turn) => {
          request.signal.removeEventListener("abort", listener);
          resolve(turn);
        },
      };
      request.signal.addEventListener("abort", listener, { once: true });
      this.#waiting.push(waiting);
      if (request.containerId !== undefined)
        this.#alone?.cancel(new LeveeError("try-later", "Cannot go on alone as another operation has come"));
      this.#grant();
    });
  }

  /** Grants the free turns in order. No request overtakes an earlier one for the same container; GC comes last. */
  #grant(): void {
    if (this.#alone !== undefined) return;
    const wanted = new Set<ContainerId>();
    for (const waiting of this.#waiting.slice()) {
      if (waiting.containerId === undefined) continue;
      const isFree = !this.#active.has(waiting.containerId) && !wanted.has(waiting.containerId);
      if (isFree) this.#start(waiting);
      else wanted.add(waiting.containerId);
    }
    const alone = this.#active.size === 0 ? this.#waiting[0] : undefined;
    if (alone !== undefined) this.#start(alone);
  }

  #start(waiting: Waiting): void {
    this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
    const { containerId, holder } = waiting;
    if (containerId === undefined) this.#alone = holder;
    else this.#active.set(containerId, holder);
    waiting.granted(new Turn(this, containerId));
  }

  /** Ends a turn and grants the next ones. */
  end(containerId: ContainerId | undefined): void {
    if (containerId === undefined) this.#alone = undefined;
    else this.#active.delete(containerId);
    this.#grant();
  }
}

/** Disposed once. It has no closures, because every call in line holds one. */
class Turn implements Disposable {
  #turns: Turns | undefined;
  readonly #containerId: ContainerId | undefined;

  constructor(turns: Turns, containerId: ContainerId | undefined) {
    this.#turns = turns;
    this.#containerId = containerId;
  }

  [Symbol.dispose](): void {
    const turns = this.#turns;
    this.#turns = undefined;
    turns?.end(this.#containerId);
  }
}

interface Request {
  readonly containerId: ContainerId | undefined;
  readonly holder: Holder;
  readonly signal: Departure;
}

interface Waiting extends Request {
  granted(turn: Disposable): void;
}
