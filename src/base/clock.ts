/** The only doorway to time and randomness, so that tests can run the real code on a virtual clock. */
export interface Clock {
  /** Milliseconds that never go back. For durations and deadlines. */
  monotonicMs(): number;
  /** Milliseconds since 1970. For people, and for times that must survive a restart. */
  wallMs(): number;
  /** Resolves after `ms`, or rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms` unless cancelled. Does not keep the process alive. */
  after(ms: number, callback: () => void): Cancel;
  /** Calls `callback` every `ms` until cancelled. Does not keep the process alive. */
  every(ms: number, callback: () => void): Cancel;
  /** A number in [0, 1). */
  random(): number;
  randomBytes(length: number): Uint8Array;
}

export type Cancel = () => void;

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: sleepOnTimer,
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
  every(ms, callback) {
    const timer = setInterval(callback, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  random: () => Math.random(),
  // `node:crypto` would load a mebibyte of streams and ciphers.
  randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};

/** Aborts the returned signal after `ms`, or when `parent` is aborted. Dispose it to stop the timer. */
export function deadline(clock: Clock, ms: number, reason: () => Error, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const onParent = (): void => controller.abort(parent?.reason);
  if (parent?.aborted === true) onParent();
  parent?.addEventListener("abort", onParent, { once: true });
  const cancel = clock.after(ms, () => controller.abort(reason()));
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      cancel();
      parent?.removeEventListener("abort", onParent);
    },
  };
}

export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
}

function sleepOnTimer(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
