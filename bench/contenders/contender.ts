import type { Caller } from "../../src/cli/storm/caller/caller.ts";
import type { GroupLimits } from "../../src/cli/storm/machine/group-files.ts";
import type { KeptDaemon } from "../../src/cli/storm/kept-daemon.ts";
import type { LimitedGroup } from "../../src/cli/storm/machine/limited-group.ts";

/** A running daemon, and the caller that sends it CNI calls. */
export interface RunningNode {
  readonly caller: Caller;
  readonly group: LimitedGroup;
  readonly daemon: KeptDaemon;
  /** The end of its log. */
  log(): string;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly limits: GroupLimits;
  /** Added to every sync of the daemon and its children. */
  readonly syncDelayMs?: number;
  /** Pause before a restart, instead of the kubelet's. */
  readonly restartMs?: number;
}

/** Something that attaches pods: Levee, or a release of Multus. */
export interface Contender {
  readonly label: string;
  start(options: StartOptions): Promise<RunningNode>;
}
