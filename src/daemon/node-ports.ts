import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { SpareTime } from "../base/spare-time.ts";
import type { DaemonConfig } from "../config/daemon-config.ts";
import type { Journal } from "../state/journal/journal.ts";
import type { MultusMirror } from "../state/multus/multus-mirror.ts";
import type { Announcer } from "./tell/announcer.ts";
import type { ConfCache } from "./look-up/conf-cache.ts";
import type { RulingFeed } from "./record/ruling-feed.ts";
import type { HungDelegates } from "./answer/hung-delegates.ts";
import type { Measures } from "./metrics/measures.ts";
import type { MetricsRegistry } from "./metrics/metrics-registry.ts";
import type { NodeChecks } from "./health/node-checks.ts";
import type { OfflineFolder } from "./undo/offline-folder.ts";
import type { Pulse } from "./record/pulse.ts";
import type { Recorder } from "./record/recorder.ts";
import type { StatusPublisher } from "./tell/status-publisher.ts";
import type { Suspects } from "./undo/suspects.ts";
import type { Timeline } from "./record/timeline.ts";
import type { Turns } from "./serve/turns.ts";
import type { LastRulings } from "./record/last-rulings.ts";
import type { View } from "../view/view.ts";

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
  readonly rulings: RulingFeed;
  readonly lastRulings: LastRulings;
}
