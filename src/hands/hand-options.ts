import type { Clock } from "../base/clock.ts";
import type { PluginAttendant } from "./plugin-attendant.ts";

export interface HandOptions {
  readonly clock: Clock;
  readonly version: number;
  readonly isResident: boolean;
  readonly cniPath: string;
  /** Says where built-in plugins stand in; absent where none do. */
  readonly standIns?: PluginAttendant | undefined;
}
