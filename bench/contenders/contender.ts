import type { Caller } from "../../src/cli/storm/caller/caller.ts";
import type { GroupLimits } from "../../src/cli/storm/machine/group-files.ts";
import type { KeptDaemon } from "../../src/cli/storm/kept-daemon.ts";
import type { LimitedGroup } from "../../src/cli/storm/machine/limited-group.ts";

/** A daemon that runs, and how it is called. */
export interface RunningNode {
  readonly caller: Caller;
  readonly group: LimitedGroup;
  readonly daemon: KeptDaemon;
  /** The end of what it has said. */
  log(): string;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly limits: GroupLimits;
  /** Added to every sync of the daemon and what it starts. */
  readonly syncDelayMs?: number;
  /** Pause before it is started again, instead of kubelet's. */
  readonly restartMs?: number;
}

/** Something that attaches pods: Levee, or a release of Multus. */
export interface Contender {
  readonly label: string;
  start(options: StartOptions): Promise<RunningNode>;
}
