import type { Departure } from "../../base/given-up.ts";
import type { Lane } from "./lane.ts";
import type { Permit } from "../permit.ts";
import type { AdmissionClass, AdmissionRequest } from "../request.ts";

/** Hears when the caller of a waiting request goes away. */
export interface WaitingOwner {
  abandoned(waiting: Waiting): void;
}

/**
 * A request in line. It is its own list node and abort listener, so that waiting costs one object and one promise.
 */
export class Waiting {
  readonly request: AdmissionRequest;
  readonly lane: Lane;
  readonly sinceMs: number;
  /** It leaves the line at this time. */
  readonly untilMs: number;
  readonly promise: Promise<Permit>;
  /** May rise while it waits. */
  admissionClass: Exclude<AdmissionClass, "exempt">;

  // Its place in a WaitingList. Only the list changes these.
  previous: Waiting | undefined;
  next: Waiting | undefined;
  /** Order of arrival in its queue. */
  number = 0;

  readonly #owner: WaitingOwner;
  readonly #signal: Departure;
  #resolve: ((permit: Permit) => void) | undefined;
  #reject: ((reason: Error) => void) | undefined;

  constructor(owner: WaitingOwner, facts: WaitingFacts, signal: Departure) {
    this.#owner = owner;
    this.#signal = signal;
    this.request = facts.request;
    this.lane = facts.lane;
    this.sinceMs = facts.sinceMs;
    this.untilMs = facts.untilMs;
    this.admissionClass = facts.admissionClass;
    // No `new Promise(callback)`: the closure would stay in memory as long as the promise.
    const { promise, resolve, reject } = Promise.withResolvers<Permit>();
    this.promise = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get isSettled(): boolean {
    return this.#resolve === undefined;
  }

  /** From now on the caller's departure ends the wait. */
  listen(): void {
    this.#signal.addEventListener("abort", this, { once: true });
  }

  /** The abort listener. An object needs no closure. */
  handleEvent(): void {
    this.#owner.abandoned(this);
  }

  grant(permit: Permit): void {
    this.#resolve?.(permit);
    this.#forget();
  }

  refuse(reason: Error): void {
    this.#reject?.(reason);
    this.#forget();
  }

  /** Rejects with the signal's reason. */
  abort(): void {
    this.refuse(this.#signal.reason as Error);
  }

  #forget(): void {
    this.#resolve = undefined;
    this.#reject = undefined;
    this.#signal.removeEventListener("abort", this);
  }
}

interface WaitingFacts {
  readonly request: AdmissionRequest;
  readonly lane: Lane;
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly admissionClass: Exclude<AdmissionClass, "exempt">;
}
