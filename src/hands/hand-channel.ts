/** A hand's connection, provided by the daemon's server. */
export interface HandChannel {
  send(frame: Uint8Array): void;
  /** The peer is gone or the connection is closed. The connection's owner then calls `left` on the hand. */
  readonly isClosed: boolean;
  /** The same as a signal. */
  readonly closed: AbortSignal;
  close(): void;
}
