/** Something the API server is to be told. Of one key only the newest is wanted. */
export interface Letter {
  readonly key: string;
  /** Rejects when it was not taken; `judge` says what that means. */
  send(): Promise<void>;
  /** It was tried and not taken, and will be tried again later: whoever waits need not wait any longer. */
  onPostponed?(thrown: unknown): void;
}

/** `ended`: nobody is there to be told. `replaced`: a newer one of the same key goes instead. */
export type Fate = "delivered" | "ended" | "refused" | "dropped" | "replaced";
