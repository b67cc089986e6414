import type { Clock } from "../base/clock.ts";
import type { PluginAttendant } from "./plugin-attendant.ts";

/** A hand's connection, provided by the daemon's server. */
export interface HandChannel {
  send(frame: Uint8Array): void;
  /** The peer is gone or the connection is closed. The connection's owner then calls `left` on the hand. */
  readonly isClosed: boolean;
  /** The same as a signal. */
  readonly closed: AbortSignal;
  close(): void;
}

export interface HandOptions {
  readonly clock: Clock;
  readonly version: number;
  readonly isResident: boolean;
  readonly cniPath: string;
  /** Says where built-in plugins stand in; absent where none do. */
  readonly standIns?: PluginAttendant | undefined;
}
