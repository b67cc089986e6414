/**
 * A part of the daemon that works beside the calls: the metrics port, the conf directory, our own garbage collection.
 * Started when the socket listens, ended in reverse order before the journal is closed.
 */
export interface Service {
  stop(): Promise<void> | void;
}
