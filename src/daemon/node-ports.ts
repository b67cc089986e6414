import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { SpareTime } from "../base/spare-time.ts";
import type { DaemonConfig } from "../config/daemon-config.ts";
import type { Journal } from "../state/journal.ts";
import type { MultusMirror } from "../state/multus-mirror.ts";
import type { Announcer } from "./announcer.ts";
import type { ConfCache } from "./conf-cache.ts";
import type { DecisionFeed } from "./decision-feed.ts";
import type { HungDelegates } from "./hung-delegates.ts";
import type { Measures } from "./metrics-measures.ts";
import type { MetricsRegistry } from "./metrics-registry.ts";
import type { NodeChecks } from "./node-checks.ts";
import type { OfflineFolder } from "./offline-folder.ts";
import type { Pulse } from "./pulse.ts";
import type { Recorder } from "./recorder.ts";
import type { StatusPublisher } from "./status-publisher.ts";
import type { Suspects } from "./suspects.ts";
import type { Timeline } from "./timeline.ts";
import type { Turns } from "./turns.ts";
import type { Verdicts } from "./verdicts.ts";
import type { View } from "./view.ts";

/** What undoing and deleting work with. Made once, in compose. */
export interface NodePorts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: DaemonConfig;
  readonly bootId: string;
  readonly journal: Journal;
  readonly mirror: MultusMirror;
  /** For what nobody waits for. */
  readonly spareTime: SpareTime;
  /** For what pods are told to have got: nobody waits for it as long as a call does. */
  readonly statusTime: SpareTime;
  readonly offline: OfflineFolder;
  readonly view: View;
  readonly confs: ConfCache;
  readonly turns: Turns;
  readonly suspects: Suspects;
  readonly timeline: Timeline;
  readonly recorder: Recorder;
  readonly pulse: Pulse;
  readonly hung: HungDelegates;
  readonly announcer: Announcer;
  readonly publisher: StatusPublisher;
  readonly metrics: MetricsRegistry;
  readonly measures: Measures;
  readonly checks: NodeChecks;
  readonly decisions: DecisionFeed;
  readonly verdicts: Verdicts;
}
