import { hostname } from "node:os";
import { Admission } from "../admission/admission.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { DaemonConfig } from "../config/daemon-config.ts";
import { StandIns } from "../hands/stand-ins.ts";
import { Journal } from "../state/journal/journal.ts";
import { MultusMirror } from "../state/multus/multus-mirror.ts";
import { kernelBoot, type Boot } from "./boot.ts";
import { HungPlugins } from "./answer/hung-plugins.ts";
import { expectPods } from "./attach/expect-pods.ts";
import { NetworkGate } from "./health/network-gate.ts";
import { NodeChecks } from "./health/node-checks.ts";
import { ConfCache } from "./look-up/conf-cache.ts";
import { countRulings } from "./metrics/admission-metrics.ts";
import type { LogCounts } from "./metrics/log-metrics.ts";
import { CallMetrics } from "./metrics/call-metrics.ts";
import type { MetricsRegistry } from "./metrics/metrics-registry.ts";
import { ChainNotes } from "./record/chain-notes.ts";
import { LastRulings } from "./record/ruling-feed.ts";
import { logRulings } from "./record/log-rulings.ts";
import { Pulse } from "./record/pulse.ts";
import { recordRulings } from "./record/record-rulings.ts";
import { Recorder } from "./record/recorder.ts";
import { RulingFeed } from "./record/ruling-feed.ts";
import type { Timeline } from "./record/timeline.ts";
import { CallLog } from "./serve/call-log.ts";
import { Turns } from "./serve/turns.ts";
import type { ClusterPlace } from "./source/kube-access.ts";
import type { Source } from "./source/source.ts";
import type { OpenTraces } from "./traces/open-traces.ts";

export interface DaemonOptions {
  readonly config: DaemonConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How many lines the log wrote, summarized and dropped; absent where they are not counted. */
  readonly logCounts?: () => LogCounts;
  readonly software: string;
  /** What the environment says about the cluster. */
  readonly cluster: ClusterPlace;
  /** Fault injection for the kill matrix: called after each journal entry has reached the file. */
  readonly onJournalWritten?: (count: number) => void;
  /** The boot of the machine; the kernel's own by default. */
  readonly boot?: Boot;
}

/** The parts that several rooms need. They are made first, and each room takes the few it declares. */
export type Ground = Awaited<ReturnType<typeof composeGround>>;

export async function composeGround(options: DaemonOptions, source: Source, metrics: MetricsRegistry) {
  const { config, clock, logger } = options;
  const boot = options.boot ?? (await kernelBoot());
  const bootId = boot.id;
  const journal = await Journal.open({
    stateDir: config.stateDir,
    bootId,
    clock,
    logger,
    multusDir: config.cniDir,
    ...(options.onJournalWritten === undefined ? {} : { onWritten: options.onJournalWritten }),
  });
  const recorder = new Recorder({ ...config, bytesMax: config.recorderBytes, bootId, clock, logger });
  recorder.start();
  const checks = new NodeChecks();
  const { traces, doors } = await composeTraces(options, source, { metrics, checks, next: recorder });
  const timeline = new Pulse(clock, traces ?? recorder);
  const measures = new CallMetrics(metrics);
  const rulings = new RulingFeed();
  countRulings(metrics, rulings);
  logRulings(rulings, logger);
  if (traces !== undefined) rulings.listen((ruling) => traces.ruled(ruling));
  const hung = new HungPlugins({ clock, journal, rulings });
  const lastRulings = new LastRulings(rulings);
  const admission = composeAdmission(config, clock, rulings);
  recordRulings({ rulings, timeline, recorder }, admission);
  if (source.view.live !== undefined) expectPods(source.view.live, admission);
  const { view, eventTeller, statusTeller, claimTeller } = source;
  const standIns = new StandIns(config.builtinPlugins, logger);
  return {
    config,
    clock,
    logger,
    bootId,
    bootWallMs: boot.beganWallMs,
    journal,
    mirror: new MultusMirror(config.cniDir, logger),
    recorder,
    timeline,
    traces,
    tracedDoors: doors,
    notes: new ChainNotes(timeline, measures, traces),
    callLog: new CallLog({ logger, measures, lastRulings, traces }),
    metrics,
    measures,
    hung,
    admission,
    view,
    eventTeller,
    statusTeller,
    claimTeller,
    confs: new ConfCache(),
    checks,
    standIns,
    networkGate: new NetworkGate(config),
    turns: new Turns(),
  };
}

/** Nothing, and nothing is loaded, without a collector. */
async function composeTraces(
  { config, clock, logger }: DaemonOptions,
  { nodeName = hostname() }: Source,
  more: { readonly metrics: MetricsRegistry; readonly checks: NodeChecks; readonly next: Timeline },
): Promise<Partial<OpenTraces>> {
  const { tracesEndpoint: endpoint, tracesOneIn: oneIn } = config;
  if (endpoint === undefined) return {};
  const { openTraces } = await import("./traces/open-traces.ts");
  const files = { headers: config.tracesHeadersFile, ca: config.tracesCaFile };
  return openTraces({ endpoint, files, oneIn, nodeName, clock, logger, ...more });
}

function composeAdmission(config: DaemonConfig, clock: Clock, rulings: RulingFeed): Admission {
  const { attachCeiling, attachStart, detachCeiling, waitingMax, addQueueMs, delQueueMs, addHoldMs } = config;
  const { addDelegatesMs, addUndoMs } = config;
  // A namespace counts before the pod is known, labels only afterwards.
  const whole = config.criticalPods.filter(({ labels }) => labels.length === 0).map(({ namespace }) => namespace);
  const criticalNamespaces = new Set<string>([...config.systemNamespaces, ...whole]);
  const limits = {
    attachCeiling,
    attachStart,
    detachCeiling,
    waitingMax,
    addQueueMs,
    addDelegatesMs,
    addUndoMs,
    delQueueMs,
    holdMsMax: addHoldMs,
    criticalNamespaces,
  };
  return new Admission({ clock, limits, onRuling: (ruling) => rulings.emit(ruling) });
}
