import { Admission } from "../admission/admission.ts";
import { readFile, statfs } from "node:fs/promises";
import { hostname } from "node:os";
import type { Clock } from "../base/clock.ts";
import { toLeveeError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { SpareTime } from "../base/spare-time.ts";
import type { DaemonConfig } from "../config/daemon-config.ts";
import { installsConf } from "../config/installs-conf.ts";
import { Journal } from "../state/journal/journal.ts";
import { MultusMirror } from "../state/multus/multus-mirror.ts";
import { holdStateFolder } from "../state/one-writer.ts";
import { ConfCache } from "./look-up/conf-cache.ts";
import { shimProblem } from "./conf-dir/shim-problem.ts";
import { ConfDir } from "./conf-dir/conf-dir.ts";
import type { ClusterPlace } from "./source/kube-access.ts";
import { RulingFeed } from "./record/ruling-feed.ts";
import { expectPods } from "./attach/expect-pods.ts";
import { EarlyConfigs } from "./look-up/early-configs.ts";
import { DetachBreaker } from "./collect/undo-breaker.ts";
import { logRulings } from "./record/log-rulings.ts";
import { GcRota } from "./collect/rota.ts";
import { countRulings } from "./metrics/admission-metrics.ts";
import { registerLog, type LogCounts } from "./metrics/log-metrics.ts";
import { HungDelegates } from "./answer/hung-delegates.ts";
import { Measures } from "./metrics/measures.ts";
import { MetricsRegistry } from "./metrics/metrics-registry.ts";
import { NodeChecks } from "./health/node-checks.ts";
import { OfflineFolder } from "./undo/offline-folder.ts";
import { openSource } from "./source/open-source.ts";
import type { NodePorts } from "./node-ports.ts";
import type { Ports } from "./ports.ts";
import { Pulse } from "./record/pulse.ts";
import { CallsUnderWay } from "./serve/calls-under-way.ts";
import { receive, type Reception } from "./serve/reception.ts";
import { PodWants } from "./attach/pod-wants.ts";
import { recordRulings } from "./record/record-rulings.ts";
import { Recorder } from "./record/recorder.ts";
import { Recovery } from "./undo/recovery.ts";
import { SelfGc } from "./collect/self-gc.ts";
import { Server } from "./serve/server.ts";
import type { Service } from "./service.ts";
import { SharedDeletes } from "./undo/shared-deletes.ts";
import { Suspects } from "./undo/suspects.ts";
import { startServices } from "./services.ts";
import type { Source } from "./source/source.ts";
import { Turns } from "./serve/turns.ts";
import { LastRulings } from "./record/last-rulings.ts";

export interface DaemonOptions {
  readonly config: DaemonConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What has become of the lines of the log; absent where nobody counts them. */
  readonly logCounts?: () => LogCounts;
  readonly software: string;
  /** What the process was told of the cluster around it. */
  readonly cluster: ClusterPlace;
  /** Fault injection for the kill matrix: called after each journal record has reached the file. */
  readonly onJournalWritten?: (count: number) => void;
}

export interface RunningDaemon {
  /** Ends in order; nothing under way is lost, because its shim comes back to the next daemon. */
  stop(): Promise<void>;
}

/** Connections of shims that wait, hands, and a few people asking. */
const spareConnections = 64;
const tmpfsMagic = 0x01021994;
/** With more calls than these under way, in line or running, what nobody waits for is put off. */
const spareCallsMax = 2;
/** In a storm a pod takes longer than this to start anyway; each keeps its results meanwhile, a few KiB. */
const statusPatience = { keptMsMax: 10_000, keptMax: 250 };

/** Builds the daemon from its parts, in the order in which they may touch the disk and the world. */
export async function startDaemon(options: DaemonOptions, signal: AbortSignal): Promise<RunningDaemon> {
  const { config, clock, logger, software } = options;
  // Nobody else writes this state folder from here on; a second daemon waits in this line.
  const lock = await holdStateFolder(config.stateDir, { clock, signal, onWaiting: () => sayWaiting(options) });
  const metrics = new MetricsRegistry();
  if (options.logCounts !== undefined) registerLog(metrics, options.logCounts);
  const source = await openSource({ config, clock, logger, metrics, cluster: options.cluster });
  const ports = await makePorts(options, source, metrics);
  const notices = [...config.notices, ...(await stateNotices(config.stateDir))];
  for (const notice of [...notices, ...source.notices()]) logger.warn(notice);

  const confDir = installsConf(config) ? new ConfDir({ ...ports, lookForShim: () => shimProblem(ports) }) : undefined;
  const calls = new CallsUnderWay();
  for (const line of [ports.spareTime, ports.statusTime]) line.watch(() => calls.count > spareCallsMax);
  const server = new Server({
    socketDir: config.socketDir,
    clock,
    heartbeatMs: config.heartbeatMs,
    connectionsMax: config.waitingMax + config.attachCeiling + config.detachCeiling + spareConnections,
    onOpened: (connection, first) => receive(connection, first, reception),
  });
  const reception: Reception = {
    ports,
    software,
    nodeName: source.nodeName ?? hostname(),
    socketPath: server.path,
    startedWallMs: clock.wallMs(),
    sourceNotices: () => source.notices(),
    notices: () => [...notices, ...source.notices(), ...recorderNotices(ports), ...(confDir?.notices() ?? [])],
    confDir: () => confDir?.facts(),
    calls,
  };
  await server.listen();
  // After the socket listens: a shim that could not connect before has its record in the folder by now.
  await ports.offline.start((request) => ports.recovery.offlineDelete(request));
  ports.recovery.start();
  const services = await startServices({ ports, source, reception, confDir });
  logger.info("The daemon is ready", {
    socket: server.path,
    stateDir: config.stateDir,
    attachments: ports.journal.all().length,
  });
  return { stop: () => stop({ server, ports, calls, lock, services, source }) };
}

async function makePorts(options: DaemonOptions, source: Source, metrics: MetricsRegistry): Promise<Ports> {
  const { config, clock, logger } = options;
  const bootId = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
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
  const pulse = new Pulse(clock, recorder);
  const rulings = new RulingFeed();
  countRulings(metrics, rulings);
  logRulings(rulings, logger);
  const nodePorts: NodePorts = {
    clock,
    logger,
    config,
    bootId,
    journal,
    mirror: new MultusMirror(config.cniDir, logger),
    spareTime: new SpareTime(clock),
    statusTime: new SpareTime(clock, statusPatience),
    offline: new OfflineFolder({ stateDir: config.stateDir, clock, logger, journal }),
    view: source.view,
    announcer: source.announcer,
    publisher: source.publisher,
    metrics,
    measures: new Measures(metrics),
    checks: new NodeChecks(),
    rulings,
    lastRulings: new LastRulings(rulings),
    hung: new HungDelegates({ clock, journal, rulings }),
    confs: new ConfCache(),
    turns: new Turns(),
    suspects: new Suspects(bootId),
    timeline: pulse,
    recorder,
    pulse,
  };
  await repairMirror(nodePorts);
  const { attachCeiling, attachStart, detachCeiling, waitingMax, addQueueMs, delQueueMs, addHoldMs } = config;
  const systemNamespaces = new Set<string>(config.systemNamespaces);
  const limits = {
    attachCeiling,
    attachStart,
    detachCeiling,
    waitingMax,
    addQueueMs,
    delQueueMs,
    holdMsMax: addHoldMs,
    systemNamespaces,
  };
  const admission = new Admission({ clock, limits, tell: (ruling) => rulings.tell(ruling) });
  recordRulings(nodePorts, admission);
  if (source.view.live !== undefined) expectPods(source.view.live, admission);
  const gcPorts = { ...nodePorts, recovery: new Recovery(nodePorts), detachBreaker: new DetachBreaker(clock) };
  return {
    ...gcPorts,
    selfGc: new SelfGc(gcPorts),
    rota: new GcRota(),
    earlyConfigs: new EarlyConfigs(),
    deletes: new SharedDeletes(),
    wants: new PodWants(nodePorts),
    admission,
  };
}

/** A storm's worth may be missing, and shims wait for this daemon: what is gets written when there is time. */
async function repairMirror({ mirror, spareTime, journal }: NodePorts): Promise<void> {
  await mirror.repair(journal.all(), (record) => spareTime.later(() => void mirror.write(record), record.token));
}

function sayWaiting({ logger, config }: DaemonOptions): void {
  logger.warn("Another daemon holds the state folder; waiting for it to end", { stateDir: config.stateDir });
}

interface Running {
  readonly server: Server;
  readonly ports: Ports;
  readonly calls: CallsUnderWay;
  readonly lock: Disposable;
  readonly services: readonly Service[];
  readonly source: Source;
}

/**
 * 1. No new peers: shims that come now wait for the next daemon.
 * 2. Calls under way get some time to end.
 * 3. The rest is cut off; their shims finish the running plugin and resume with the next daemon.
 * 4. What still writes the journal ends, then the journal is closed and the folder let go.
 */
async function stop({ server, ports, calls, lock, services, source }: Running): Promise<void> {
  await server.stopListening();
  await Promise.race([calls.none(), ports.clock.sleep(ports.config.shutdownMs)]);
  const recovered = ports.recovery
    .stop()
    .catch((thrown: unknown) =>
      ports.logger.warn("Recovery was cut off", { reason: toLeveeError(thrown, "Recovery").message }),
    );
  server.closeConnections();
  await calls.none();
  ports.offline.stop();
  await recovered;
  ports.spareTime.finish();
  ports.statusTime.finish();
  await ports.mirror.settled();
  for (const service of services.toReversed()) await service.stop();
  await source.close();
  await ports.journal.close();
  ports.recorder.stop();
  lock[Symbol.dispose]();
}

function recorderNotices({ recorder: { notice } }: Ports): readonly string[] {
  return notice === undefined ? [] : [notice];
}

async function stateNotices(stateDir: string): Promise<readonly string[]> {
  const { type } = await statfs(stateDir);
  return type === tmpfsMagic
    ? [`The state folder ${stateDir} is on tmpfs: the journal dies with the boot; put stateDir on a disk`]
    : [];
}
