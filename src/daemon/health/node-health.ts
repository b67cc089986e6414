import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { apiCheck, viewCheck } from "../../readiness/follow-rules.ts";
import { journalCheck, leaksCheck, quarantineCheck } from "../../readiness/state-rules.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { CallMetrics } from "../metrics/call-metrics.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import { MetricsServer } from "../metrics/metrics-server.ts";
import { answerHttp, type RouteOptions } from "./routes.ts";
import type { Service } from "../service.ts";
import { JournalWatch } from "./journal-watch.ts";
import type { NodeChecks } from "./node-checks.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

interface NodeHealthNeeds extends Pick<RouteOptions, "dryRun" | "node" | "story" | "storms"> {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "healthPort" | "metricsPort">;
  readonly logger: Logger;
  readonly journal: Journal;
  readonly checks: NodeChecks;
  readonly metrics: MetricsRegistry;
  readonly measures: CallMetrics;
  /** How well the local copies follow the API server; undefined without an API server. */
  readonly sourceHealth: (() => readonly ReflectorHealth[]) | undefined;
}

/** Starts the checks of this node and the two ports, health and metrics. */
export function startNodeHealth(needs: NodeHealthNeeds): Service {
  const { clock, logger, checks, journal, sourceHealth } = needs;
  const watch = new JournalWatch(clock, journal, () => checks.logChanges(logger));
  checks.add(() => [journalCheck(watch.facts()), quarantineCheck(watch.facts()), leaksCheck(watch.facts())]);
  if (sourceHealth !== undefined)
    checks.add(() => [apiCheck(sourceHealth(), clock.wallMs()), viewCheck(sourceHealth())]);
  const stopLog = checks.watch(clock, logger);
  const servers = startServers(needs, { ...needs, journal: () => watch.facts() });
  return {
    stop: async () => {
      stopLog();
      for (const server of servers) await server.stop();
      await watch.stop();
    },
  };
}

function startServers(
  { config, clock, logger, measures }: NodeHealthNeeds,
  routes: Omit<RouteOptions, "serves">,
): readonly MetricsServer[] {
  const wanted = [
    { port: config.healthPort, reach: "node", serves: "health" },
    { port: config.metricsPort, reach: "any", serves: "all" },
  ] as const;
  return wanted.flatMap(({ port, reach, serves }) =>
    port === undefined
      ? []
      : [
          new MetricsServer({
            port,
            reach,
            clock,
            logger,
            answer: (request) => answerHttp(request, { ...routes, serves }),
            onRefused: (status) => measures.requested("refused", "other", status),
          }),
        ],
  );
}
