import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { foreignText } from "../detect/foreign-text.ts";
import type { AlertFacts } from "../facts/world.ts";
import { askAlertmanager, type Alertmanager } from "./ask-alertmanager.ts";
import { parseAlerts } from "./parse-alerts.ts";
import type { TextGetter } from "./get-text.ts";
import { literalPattern } from "./query-prometheus.ts";

/** An alert joins the cause chain at most half a minute late; nothing waits for it. */
const lookMs = 30_000;
/** Older alerts say little about now. */
const keptMs = 300_000;
/** Three looks; after that an alert that matters may fire unseen, and no reboot is allowed. */
const currentMs = 90_000;

interface AlertSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Members of one Alertmanager cluster; the first that answers is believed. */
  readonly alertmanagers: readonly Alertmanager[];
  /** The `cluster` label of this cluster's alerts; empty when they carry none. */
  readonly cluster: string;
  readonly getText?: TextGetter;
}

/** The firing alerts, read from Alertmanager from time to time. Without an answer the guard goes on, and proposals say so. */
export class AlertSource {
  readonly #options: AlertSourceOptions;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #alerts: readonly AlertFacts[] = [];
  #heardMs: number;
  #problem: string | undefined;
  #omitted = 0;
  #hasHeard = false;

  constructor(options: AlertSourceOptions) {
    this.#options = options;
    this.#heardMs = options.clock.monotonicMs();
  }

  start(): void {
    if (this.#options.alertmanagers.length > 0) this.#loop ??= this.#run();
  }

  alerts(): readonly AlertFacts[] {
    return this.#ageMs() > keptMs ? [] : this.#alerts;
  }

  /** Why nobody can say which alerts fire; undefined when they were read lately, or when no Alertmanager is set. */
  unread(): string | undefined {
    if (this.#options.alertmanagers.length === 0) return undefined;
    if (!this.#hasHeard) return this.#problem ?? "it has not answered yet";
    if (this.#ageMs() > currentMs)
      return `its last answer is ${Math.round(this.#ageMs() / 1_000)} s old: ${this.#problem ?? "it is asked now"}`;
    return this.#omitted === 0 ? undefined : `${this.#omitted} more alerts fire than the guard reads`;
  }

  notes(): readonly string[] {
    const seconds = Math.round(this.#ageMs() / 1_000);
    return [
      ...(this.#problem === undefined ? [] : [`Alerts were last read ${seconds} s ago: ${this.#problem}`]),
      ...(this.#omitted === 0 ? [] : [`${this.#omitted} more alerts fire than the guard reads`]),
    ];
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the guard ends"));
    await this.#loop;
  }

  #ageMs(): number {
    return this.#options.clock.monotonicMs() - this.#heardMs;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#look();
      await clock.sleep(lookMs, signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const problems: string[] = [];
    for (const alertmanager of this.#options.alertmanagers) {
      const problem = await this.#ask(alertmanager);
      if (problem === undefined) return this.#heard();
      problems.push(`${alertmanager.url}: ${problem}`);
    }
    if (this.#stop.signal.aborted) return;
    const problem = foreignText(problems.join("; "), 500);
    if (this.#problem === undefined)
      this.#options.logger.warn("Cannot read Alertmanager; going on without alerts", { why: problem });
    this.#problem = problem;
  }

  #heard(): void {
    this.#heardMs = this.#options.clock.monotonicMs();
    this.#hasHeard = true;
    if (this.#problem !== undefined) this.#options.logger.info("Alertmanager can be read again");
    this.#problem = undefined;
  }

  /** Resolves with the reason when it cannot be read. */
  async #ask(alertmanager: Alertmanager): Promise<string | undefined> {
    const { clock, cluster, getText } = this.#options;
    const way = { signal: this.#stop.signal, getText };
    try {
      const text = await askAlertmanager(clock, alertmanager, alertsPath(cluster), way);
      const { alerts, omitted } = parseAlerts(text, cluster);
      this.#alerts = alerts;
      this.#omitted = omitted;
      return undefined;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : toLeveeError(thrown, "Cannot read it").message;
    }
  }
}

/** Includes silenced and inhibited alerts, which fire all the same. Alerts without the label come from a Prometheus of one cluster. */
function alertsPath(cluster: string): string {
  const all = "/api/v2/alerts?active=true&silenced=true&inhibited=true&unprocessed=true";
  if (cluster === "") return all;
  return `${all}&filter=${encodeURIComponent(`cluster=~"|${literalPattern(cluster)}"`)}`;
}
