/** What a verb gives back for the runtime. */
export interface Reply {
  readonly output: string;
  /** Called once it is known whether the runtime got the output. */
  readonly delivered?: (printed: boolean) => Promise<void>;
  /** Called when `delivered` could not do its work. */
  readonly undelivered?: () => void;
  /** Let go once the delivery is recorded: a DEL that comes before would take the attachment for a lost shim's. */
  readonly held?: Disposable;
}

/** Success with nothing to print, as DEL, CHECK, STATUS and GC answer. */
export const silence: Reply = { output: "" };

/** The runtime has its result already; there is nothing left to say but goodbye. */
export const alreadyPrinted = "already-printed";
