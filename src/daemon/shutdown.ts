import type { Clock } from "../base/clock.ts";
import { toLeveeError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import type { DaemonConfig } from "../config/daemon-config.ts";
import type { Journal } from "../state/journal/journal.ts";
import type { Recorder } from "./record/recorder.ts";
import type { CallsUnderWay } from "./serve/calls-under-way.ts";
import type { Service } from "./service.ts";
import type { Source } from "./source/source.ts";
import type { Afterwork } from "./tell/afterwork.ts";
import type { OfflineFolder } from "./undo/offline-folder.ts";
import type { Recovery } from "./undo/recovery.ts";

/** The parts of a running daemon that shutdown ends. */
export interface Running {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "shutdownMs">;
  readonly logger: Logger;
  /** The daemon's own socket, and Multus' where it is served. */
  readonly servers: readonly { stopListening(): Promise<void>; closeConnections(): void }[];
  readonly calls: CallsUnderWay;
  readonly recovery: Recovery;
  readonly offline: OfflineFolder;
  readonly afterwork: Afterwork;
  readonly services: readonly Service[];
  /** Changes of running pods, which need the connection of the resident hand. */
  readonly plug: Service;
  readonly source: Source;
  readonly journal: Journal;
  readonly recorder: Recorder;
  readonly lock: Disposable;
}

/**
 * 1. The socket takes no new peers. Shims that come now wait for the next daemon.
 * 2. Calls and changes of running pods that are under way get some time to end.
 * 3. The remaining connections are closed. Their shims finish the running plugin and resume with the next daemon.
 * 4. The parts that still write the journal end. Then the journal is closed and the state folder released.
 */
export async function shutDown(running: Running): Promise<void> {
  const { clock, config, logger, servers, calls, recovery, offline, afterwork } = running;
  for (const server of servers) await server.stopListening();
  const plugged = Promise.resolve(running.plug.stop());
  await Promise.race([Promise.all([calls.none(), plugged]), clock.sleep(config.shutdownMs)]);
  const recovered = recovery
    .stop()
    .catch((thrown: unknown) =>
      logger.warn("Recovery was interrupted by the shutdown", { reason: toLeveeError(thrown, "Recovery").message }),
    );
  for (const server of servers) server.closeConnections();
  await calls.none();
  await plugged;
  offline.stop();
  await recovered;
  await afterwork.finish();
  for (const service of running.services.toReversed()) await service.stop();
  await running.source.close();
  await running.journal.close();
  running.recorder.stop();
  running.lock[Symbol.dispose]();
}
