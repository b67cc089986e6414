import { apiCheck, viewCheck } from "../../readiness/follow-rules.ts";
import { journalCheck, leaksCheck, quarantineCheck } from "../../readiness/state-rules.ts";
import { JournalWatch } from "./journal-watch.ts";
import { registerNodeMetrics } from "../metrics/node-metrics.ts";
import { answerHttp, type RouteOptions } from "../metrics/routes.ts";
import { MetricsServer } from "../metrics/metrics-server.ts";
import type { Service } from "../service.ts";
import type { ServiceOptions } from "../service-options.ts";

/** Starts what watches this node and tells about it: the checks, the metrics and their two ports. */
export function startNodeHealth(options: ServiceOptions): Service {
  const { ports, source, reception } = options;
  const { clock, logger, checks, metrics, journal } = ports;
  const watch = new JournalWatch(clock, journal);
  registerNodeMetrics(metrics, ports, reception.nodeName);
  checks.add(() => [journalCheck(watch.facts()), quarantineCheck(watch.facts()), leaksCheck(watch.facts())]);
  const { health } = source;
  if (health !== undefined) checks.add(() => [apiCheck(health(), clock.wallMs()), viewCheck(health())]);
  const stopLog = checks.watch(clock, logger);
  const servers = startServers(options, { facts: reception, journal: () => watch.facts() });
  return {
    stop: async () => {
      stopLog();
      for (const server of servers) await server.stop();
      await watch.stop();
    },
  };
}

function startServers({ ports }: ServiceOptions, routes: Omit<RouteOptions, "tells">): readonly MetricsServer[] {
  const { config, clock, logger, measures } = ports;
  const wanted = [
    { port: config.healthPort, reach: "node", tells: "health" },
    { port: config.metricsPort, reach: "any", tells: "all" },
  ] as const;
  return wanted.flatMap(({ port, reach, tells }) =>
    port === undefined
      ? []
      : [
          new MetricsServer({
            port,
            reach,
            clock,
            logger,
            answer: (request) => answerHttp(request, { ...routes, tells }),
            onRefused: (status) => measures.requested("refused", "other", status),
          }),
        ],
  );
}
