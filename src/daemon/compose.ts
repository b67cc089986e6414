import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import type { Hand } from "../hands/hand.ts";
import { installsConf } from "../config/installs-conf.ts";
import { holdStateFolder } from "../state/one-writer.ts";
import type { ThisNode } from "./answer/node-answer.ts";
import { composeAnswers } from "./compose-answers.ts";
import { composeCollect } from "./compose-collect.ts";
import { composeMultus } from "./compose-multus.ts";
import { composePlug } from "./compose-plug.ts";
import { composeServices } from "./compose-services.ts";
import { composeUndo, type UndoParts } from "./compose-undo.ts";
import { composeVerbs } from "./compose-verbs.ts";
import { ConfDir } from "./conf-dir/conf-dir.ts";
import { shimProblem } from "./conf-dir/shim-problem.ts";
import { registerLog } from "./metrics/log-metrics.ts";
import { MetricsRegistry } from "./metrics/metrics-registry.ts";
import type { Recorder } from "./record/recorder.ts";
import { CallsUnderWay } from "./serve/calls-under-way.ts";
import { Reception } from "./serve/reception.ts";
import { serveCall } from "./serve/serve-call.ts";
import { Server } from "./socket/server.ts";
import { shutDown } from "./shutdown.ts";
import { openSource } from "./source/open-source.ts";
import { composeGround, type DaemonOptions, type Ground } from "./compose-ground.ts";
import { forgetStart } from "./forget-start.ts";

export interface RunningDaemon {
  /** Stops in order. Nothing under way is lost, because its shim comes back to the next daemon. */
  stop(): Promise<void>;
}

/** Room for resident hands, returning shims and commands, beyond the calls that admission allows. */
const spareConnections = 64;
const tmpfsMagic = 0x01021994;
/** With more calls than this under way, in line or running, the work after the reply is put off. */
const spareCallsMax = 2;

/** Builds and starts the daemon. The order matters: a part may use the disk or the network as soon as it is made. */
export async function startDaemon(options: DaemonOptions, signal: AbortSignal): Promise<RunningDaemon> {
  const { config, clock, logger, software } = options;
  // From here on no other process writes this state folder. A second daemon waits here.
  const lock = await holdStateFolder(config.stateDir, { clock, signal, onWaiting: () => logWaiting(options) });
  const metrics = new MetricsRegistry();
  if (options.logCounts !== undefined) registerLog(metrics, options.logCounts);
  const source = await openSource({ config, clock, logger, metrics, cluster: options.cluster });
  const ground = await composeGround(options, source, metrics);
  const undo = composeUndo(ground);
  await undo.afterwork.repairMirror();
  const { verbs, accounts } = composeVerbs(ground, undo);
  const collect = composeCollect(ground, undo);
  const notices = [...config.notices, ...(await stateNotices(config.stateDir))];
  for (const notice of [...notices, ...source.notices()]) logger.warn(notice);

  const { residents } = undo;
  const lookForShim = (): ReturnType<typeof shimProblem> =>
    shimProblem({ config, journal: ground.journal, resident: () => residents.hand() });
  const confDir = installsConf(config) ? new ConfDir({ ...ground, lookForShim }) : undefined;
  const calls = new CallsUnderWay();
  undo.afterwork.giveWayWhile(() => calls.count > spareCallsMax);
  const server = new Server({
    socketDir: config.socketDir,
    clock,
    heartbeatMs: config.heartbeatMs,
    connectionsMax: config.waitingMax + config.attachCeiling + config.detachCeiling + spareConnections,
    onOpened: (connection, first) => reception.receive(connection, first),
  });
  const thisNode: ThisNode = {
    software,
    nodeName: source.nodeName ?? hostname(),
    socketPath: server.path,
    startedWallMs: clock.wallMs(),
    sourceNotices: () => source.notices(),
    notices: () => [
      ...notices,
      ...source.notices(),
      ...recorderNotices(ground.recorder),
      ...(confDir?.notices() ?? []),
    ],
  };
  const answers = composeAnswers(ground, { undo, collect, thisNode });
  const serveNeeds = { ...ground, verbs: { ...verbs, gc: collect.gc }, calls, offline: undo.offline };
  const reception = new Reception({
    ...ground,
    software,
    serve: (call, first) => {
      ground.traces?.begin(call, first);
      void serveCall(call, serveNeeds);
    },
    addResident: (hand) => addResident(hand, ground, undo),
    answer: answers.answer,
  });
  await server.listen();
  // Only now, because a shim that could not connect before has its record in the folder by now.
  await undo.offline.start((request) => undo.recovery.offlineDelete(request));
  undo.recovery.start();
  const services = [
    ...(ground.traces === undefined ? [] : [ground.traces]),
    ...(await composeServices(ground, { undo, collect, source, thisNode, confDir, http: answers })),
    forgetStart({ clock, calls }),
  ];
  const plug = composePlug(ground, undo, accounts).start();
  const servers = [server, ...(await composeMultus(ground, undo, { plug, reception }))];
  logReady(ground, server);
  return { stop: () => shutDown({ ...ground, ...undo, servers, calls, lock, services, plug, source }) };
}

function logReady({ logger, config, journal }: Ground, { path }: Server): void {
  const { stateDir } = config;
  logger.info("The daemon is ready", { socket: path, stateDir, attachments: journal.all().length });
}

function addResident(hand: Hand, { traces }: Ground, { recovery }: UndoParts): void {
  traces?.follow(hand);
  recovery.addResident(hand);
}

function logWaiting({ logger, config }: DaemonOptions): void {
  logger.warn("Another daemon holds the state folder; waiting for it to end", { stateDir: config.stateDir });
}

function recorderNotices({ notice }: Recorder): readonly string[] {
  return notice === undefined ? [] : [notice];
}

async function stateNotices(stateDir: string): Promise<readonly string[]> {
  const { type } = await statfs(stateDir);
  return type === tmpfsMagic
    ? [`The state folder ${stateDir} is on tmpfs: a reboot loses the journal; put stateDir on a disk`]
    : [];
}
