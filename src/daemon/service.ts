/**
 * A part of the daemon that works beside the calls: the metrics port, the conf directory, our own garbage collection.
 * Services start once the socket listens, and stop in reverse order before the journal closes.
 */
export interface Service {
  stop(): Promise<void> | void;
}
