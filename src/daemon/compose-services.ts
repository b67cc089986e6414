import { phaseOf } from "./answer/record-phase.ts";
import type { ThisNode } from "./answer/node-answer.ts";
import type { CollectParts } from "./compose-collect.ts";
import type { Ground } from "./compose-ground.ts";
import type { UndoParts } from "./compose-undo.ts";
import type { ConfDir } from "./conf-dir/conf-dir.ts";
import { startConfDir } from "./conf-dir/start-conf-dir.ts";
import { GateWatch } from "./gate/gate-watch.ts";
import { startNodeHealth } from "./health/node-health.ts";
import { startNodeWatch } from "./health/node-watch.ts";
import { startOwnLoad } from "./health/own-load.ts";
import type { RouteOptions } from "./health/routes.ts";
import { registerNodeMetrics } from "./health/node-metrics.ts";
import { GateTicketFile } from "../state/gate-ticket.ts";
import type { Service } from "./service.ts";
import type { Source } from "./source/source.ts";
import { startStatusRepair } from "./tell/status-repair.ts";

interface ServiceParts {
  readonly undo: UndoParts;
  readonly collect: CollectParts;
  readonly source: Source;
  readonly thisNode: ThisNode;
  /** Undefined when the settings leave the runtime's conf directory alone. */
  readonly confDir: ConfDir | undefined;
  readonly http: Pick<RouteOptions, "dryRun" | "node" | "story" | "storms">;
}

/** Starts the parts that work beside the calls, in this order. */
export async function composeServices(ground: Ground, parts: ServiceParts): Promise<readonly Service[]> {
  const { undo, collect, source, thisNode, confDir, http } = parts;
  const { recovery, residents, offline } = undo;
  registerNodeMetrics(ground.metrics, {
    ...ground,
    nodeName: thisNode.nodeName,
    phaseOf: (record) => phaseOf(record, recovery),
    offlineDeletes: () => offline.waiting,
    residentHands: () => residents.all().length,
  });
  return [
    startNodeHealth({ ...ground, sourceHealth: source.health, ...http }),
    startOwnLoad(ground),
    collect.start(),
    startStatusRepair(ground),
    ...(confDir === undefined ? [] : [await startConfDir(confDir, ground)]),
    startNodeWatch({
      ...ground,
      nodeName: thisNode.nodeName,
      networks: ground,
      shown: ground,
      resident: () => residents.current(),
      primaryPath: () => confDir?.facts().primary,
    }),
    ...startGateWatch(ground, parts),
  ];
}

function startGateWatch(ground: Ground, { source, thisNode }: ServiceParts): readonly Service[] {
  const { config, logger } = ground;
  const { gateFile: path, gateLookMs: lookMs } = config;
  if (source.gate !== undefined) {
    const ticket = path === undefined ? undefined : new GateTicketFile({ ...ground, path });
    return [new GateWatch({ ...ground, nodeName: thisNode.nodeName, source: source.gate, ticket, lookMs })];
  }
  if (path !== undefined) logger.warn("gateFile has no effect: without a cluster nobody decides about reboots");
  return [];
}
