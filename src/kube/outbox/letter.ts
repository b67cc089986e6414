/** Something to tell the API server. A newer letter of the same key replaces it. */
export interface Letter {
  readonly key: string;
  /** Rejects when the server did not take it. The outbox's `judge` says what the error means. */
  send(): Promise<void>;
  /** Called after each failed attempt that will be repeated: a caller that waits need not wait any longer. */
  onPostponed?(thrown: unknown): void;
}

/** `ended`: the object is gone. `replaced`: a newer letter of the same key goes instead. */
export type Fate = "delivered" | "ended" | "refused" | "dropped" | "replaced";
