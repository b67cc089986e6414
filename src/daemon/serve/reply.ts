/** The outcome of a verb, for its call to deliver. */
export interface Reply {
  readonly output: string;
  /** Called when the shim has told whether the runtime got the output. */
  readonly delivered?: (printed: boolean) => Promise<void>;
  /** Called when `delivered` failed. */
  readonly undelivered?: () => void;
  /** Disposed when the delivery is recorded. A DEL before that would assume that the shim is lost. */
  readonly held?: Disposable;
}

/** Success without output: the reply of DEL, CHECK, STATUS and GC. */
export const silence: Reply = { output: "" };

/** The runtime has its result already, so the call only needs BYE. */
export const alreadyPrinted = "already-printed";
