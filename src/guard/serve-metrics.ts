import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { gateAnswer } from "./gate/gate-answer.ts";
import type { GateKeeper } from "./gate/gate-keeper.ts";
import { gateMetrics } from "./gate/gate-metrics.ts";
import type { GateObjects } from "./gate/gate-objects.ts";
import type { GateSettings } from "./gate/gate-settings.ts";
import { guardMetrics, type GuardState } from "./metrics/guard-metrics.ts";
import { openMetricsPort } from "./metrics/metrics-port.ts";
import type { AddressKeeper } from "./networks/address-keeper.ts";
import type { NetworkKeeper } from "./networks/network-keeper.ts";
import { addressMetrics, networkMetrics } from "./networks/network-metrics.ts";
import type { ClusterFacts } from "./observe/cluster-facts.ts";

interface PortOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Absent: none. */
  readonly metricsPort?: number;
}

/** The objects of the reboot gate and the one who keeps it. */
export interface GateParts {
  readonly settings: GateSettings;
  readonly objects: GateObjects;
  readonly keeper: GateKeeper;
}

interface MeasuredParts {
  readonly facts: ClusterFacts;
  readonly gate: GateParts | undefined;
  readonly networks: NetworkKeeper;
  readonly addresses: AddressKeeper;
}

/** The guard's port for Prometheus and for the gate's door, leading or not. */
export function serveMetrics(
  { metricsPort, logger, clock }: PortOptions,
  { facts, gate, networks, addresses }: MeasuredParts,
  own: () => Pick<GuardState, "isLeader" | "refusedProposals">,
): Disposable {
  if (metricsPort === undefined) return { [Symbol.dispose]: () => undefined };
  const startedMs = clock.monotonicMs();
  const state = (): GuardState => ({
    ...facts.world(),
    ...own(),
    runningMs: clock.monotonicMs() - startedMs,
    health: facts.health(),
  });
  const gateText = (): string =>
    gate === undefined ? "" : gateMetrics({ ...gate, world: facts.world(), isLeader: own().isLeader, clock });
  const door = gate?.settings.doors.includes("http") === true ? gate.objects : undefined;
  const networkText = (): string => networkMetrics(networks.warnings) + addressMetrics(addresses.rooms);
  const answers = {
    metrics: () => guardMetrics(state()) + gateText() + networkText(),
    isReady: () => facts.isCurrent(),
    ...(door === undefined ? {} : { gate: (node: string) => gateAnswer(node, door.gate(node), clock.wallMs()) }),
  };
  return openMetricsPort(metricsPort, answers, logger);
}
