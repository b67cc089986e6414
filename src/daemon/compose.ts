import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { installsConf } from "../config/installs-conf.ts";
import { holdStateFolder } from "../state/one-writer.ts";
import type { ThisNode } from "./answer/node-answer.ts";
import { composeCalls } from "./compose-calls.ts";
import { composeDryRuns } from "./compose-dry-run.ts";
import { composeMultus } from "./compose-multus.ts";
import { composePlug } from "./compose-plug.ts";
import { composeServices } from "./compose-services.ts";
import { ConfDir } from "./conf-dir/conf-dir.ts";
import { shimProblem } from "./conf-dir/shim-problem.ts";
import { registerLog } from "./metrics/log-metrics.ts";
import { MetricsRegistry } from "./metrics/metrics-registry.ts";
import type { Recorder } from "./record/recorder.ts";
import { shutDown } from "./shutdown.ts";
import type { Server } from "./socket/server.ts";
import { openSource } from "./source/open-source.ts";
import type { Source } from "./source/source.ts";
import { composeGround, type DaemonOptions, type Ground } from "./compose-ground.ts";
import { forgetStart } from "./forget-start.ts";
import { lateAnswers } from "./late-answers.ts";

export interface RunningDaemon {
  /** Stops in order. Nothing under way is lost, because its shim comes back to the next daemon. */
  stop(): Promise<void>;
}

const tmpfsMagic = 0x01021994;
/** Builds and starts the daemon. The order matters: a part may use the disk or the network as soon as it is made. */
export async function startDaemon(options: DaemonOptions, signal: AbortSignal): Promise<RunningDaemon> {
  const { config, clock, logger, software } = options;
  // From here on no other process writes this state folder. A second daemon waits here.
  const lock = await holdStateFolder(config.stateDir, { clock, signal, onWaiting: () => logWaiting(options) });
  const metrics = new MetricsRegistry();
  if (options.logCounts !== undefined) registerLog(metrics, options.logCounts);
  const source = await openSource({ config, clock, logger, metrics, cluster: options.cluster });
  const ground = await composeGround(options, source, metrics);
  const parts = composeCalls(ground, { software, answer: (question) => answers.answer(question) });
  const { undo, collect, calls, server } = parts;
  await undo.afterwork.repairMirror();
  const notices = [...config.notices, ...(await stateNotices(config.stateDir))];
  for (const notice of [...notices, ...source.notices()]) logger.warn(notice);

  const { residents } = undo;
  const lookForShim = (): ReturnType<typeof shimProblem> =>
    shimProblem({ config, journal: ground.journal, resident: () => residents.hand() });
  const confDir = installsConf(config) ? new ConfDir({ ...ground, lookForShim }) : undefined;
  const thisNode = thisNodeOf(options, ground, { source, server, confDir, notices });
  const dryRuns = composeDryRuns(ground, { undo, nodeName: thisNode.nodeName, read: source.dryRun });
  const answers = lateAnswers(ground, { undo, collect, thisNode, dryRuns });
  await parts.start();
  const services = [
    ...(ground.traces === undefined ? [] : [ground.traces]),
    ...(await composeServices(ground, {
      undo,
      collect,
      source,
      thisNode,
      confDir,
      http: { ...answers, dryRun: (namespace, name) => dryRuns.request(namespace, name) },
    })),
    forgetStart({ clock, calls }),
  ];
  const plug = composePlug(ground, undo, parts.accounts).start();
  const servers = [server, ...(await composeMultus(ground, undo, { plug, reception: parts.reception }))];
  logReady(ground, server);
  return { stop: () => shutDown({ ...ground, ...undo, servers, calls, lock, services, plug, dryRuns, source }) };
}

interface NodeParts {
  readonly source: Source;
  readonly server: Server;
  readonly confDir: ConfDir | undefined;
  readonly notices: readonly string[];
}

function thisNodeOf(
  { software, clock }: DaemonOptions,
  { recorder }: Ground,
  { source, server, confDir, notices }: NodeParts,
): ThisNode {
  return {
    software,
    nodeName: source.nodeName ?? hostname(),
    socketPath: server.path,
    startedWallMs: clock.wallMs(),
    sourceNotices: () => source.notices(),
    notices: () => [...notices, ...source.notices(), ...recorderNotices(recorder), ...(confDir?.notices() ?? [])],
  };
}

function logReady({ logger, config, journal }: Ground, { path }: Server): void {
  const { stateDir } = config;
  logger.info("The daemon is ready", { socket: path, stateDir, attachments: journal.all().length });
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
