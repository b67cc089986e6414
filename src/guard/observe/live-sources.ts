import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { MemoryQuestion } from "../facts/memory-past.ts";
import { AlertSource } from "./alert-source.ts";
import type { Alertmanager } from "./ask-alertmanager.ts";
import type { ClusterFacts } from "./cluster-facts.ts";
import type { TextGetter } from "./get-text.ts";
import { MemorySource } from "./memory-source.ts";
import { NodeViewSource } from "./node-view-source.ts";
import type { OtherSources } from "./other-sources.ts";
import { nodesToAsk, nodesUnderRemoval } from "./nodes-to-ask.ts";

interface LiveSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  /** Absent: no Alertmanager is asked. */
  readonly alertmanagers?: readonly Alertmanager[];
  /** The daemons' metrics port. Absent: no daemon is asked. */
  readonly daemonPort?: number;
  readonly facts: () => ClusterFacts;
  /** What Prometheus is asked about the memory of CNI daemons. */
  readonly memoryQuestions: () => readonly MemoryQuestion[];
  /** How Alertmanager, Prometheus and the daemons are asked; over the network unless given. */
  readonly getText?: TextGetter;
}

/** The sources besides the API server and git. Any of them may be silent, and the guard goes on without it. */
export class LiveSources {
  readonly #alerts: AlertSource;
  readonly #nodeViews: NodeViewSource;
  readonly #memory: MemorySource;

  constructor({ clock, logger, settings, alertmanagers = [], daemonPort, facts, ...options }: LiveSourceOptions) {
    const { memoryQuestions, ...way } = options;
    const { cluster, prometheus } = settings;
    this.#alerts = new AlertSource({ clock, logger, alertmanagers, cluster, ...way });
    this.#memory = new MemorySource({ clock, logger, prometheus, cluster, wanted: memoryQuestions, ...way });
    this.#nodeViews = new NodeViewSource({
      clock,
      ...way,
      port: daemonPort,
      wanted: () => nodesToAsk(facts().world(), settings),
      close: () => nodesUnderRemoval(facts().decisions()),
    });
  }

  start(): void {
    this.#alerts.start();
    this.#nodeViews.start();
    this.#memory.start();
  }

  sources(): Pick<OtherSources, "alerts" | "alertsUnread" | "nodeViews" | "memoryOfPrometheus"> {
    return {
      alerts: () => this.#alerts.alerts(),
      alertsUnread: () => this.#alerts.unread(),
      nodeViews: () => this.#nodeViews.views(),
      memoryOfPrometheus: () => ({ memoryPasts: this.#memory.pasts(), memoryUses: this.#memory.uses() }),
    };
  }

  notes(): readonly string[] {
    return [...this.#alerts.notes(), ...this.#nodeViews.notes()];
  }

  async close(): Promise<void> {
    await Promise.all([this.#alerts.close(), this.#nodeViews.close(), this.#memory.close()]);
  }
}
