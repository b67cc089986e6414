import { UnexpectedStatus, type TextGetter } from "../../guard/observe/get-text.ts";
import { objectOf } from "../../kube/client/json-fields.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimListener } from "../node/sim-event.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { ApiServer } from "./api-server.ts";
import { controller } from "./api-user.ts";
import { nodeAddress } from "./cluster-objects.ts";
import { prometheusUrl, SimPrometheus } from "./sim-prometheus.ts";

interface FleetOptions {
  readonly nodes: readonly string[];
  /** How long a node is away when it is rebooted. */
  readonly rebootMs: number;
  readonly server: ApiServer;
  readonly api: SimApi;
  readonly time: SimTime;
  readonly say: SimListener;
}

export const alertmanagerUrl = "http://alertmanager.example:9093";

/** The nodes: which are due for a reboot, which are away, and what their daemons, Alertmanager and Prometheus tell. */
export class ClusterFleet {
  /** Since when each node has its mark, by its own clock. */
  readonly due = new Map<string, number>();
  /** Daemons that do not answer. */
  readonly silent = new Set<string>();
  /** Since when each alert fires. */
  readonly alerts = new Map<string, number>();
  isAlertmanagerAway = false;
  readonly prometheus: SimPrometheus;
  readonly #options: FleetOptions;
  #boots = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.prometheus = new SimPrometheus(options.time, options.api);
  }

  setReady(node: string, isReady: boolean): void {
    const lastTransitionTime = new Date(this.#options.time.wallMs).toISOString();
    const conditions = [{ type: "Ready", status: isReady ? "True" : "Unknown", lastTransitionTime }];
    this.#options.server.change(controller, "nodes", `/${node}`, { status: { conditions } });
  }

  cordon(node: string, isCordoned: boolean): void {
    this.#options.server.change(controller, "nodes", `/${node}`, { spec: { unschedulable: isCordoned } });
  }

  /** Cordoned, away, and back with another boot ID and without its mark. */
  reboot(node: string): void {
    const { server, time, say, rebootMs } = this.#options;
    say({ kind: "log", node, level: "info", text: "reboots" });
    this.cordon(node, true);
    this.setReady(node, false);
    this.silent.add(node);
    time.after(rebootMs, () => {
      this.#boots += 1;
      this.due.delete(node);
      this.silent.delete(node);
      server.change(controller, "nodes", `/${node}`, {
        status: { nodeInfo: { bootID: `${node}-boot-${this.#boots}` } },
      });
      this.setReady(node, true);
      this.cordon(node, false);
    });
  }

  /** What a guard gets by HTTP. */
  readonly getText: TextGetter = async (clock, { server, path, deadlineMs }, signal) => {
    await clock.sleep(clock.random() * 20, signal);
    const { nodes } = this.#options;
    const node = nodes.find((_name, number) => server.includes(`//${nodeAddress(number)}:`)) ?? "";
    if (this.#isAway(server, node)) {
      await clock.sleep(deadlineMs, signal);
      throw new Error(`it did not answer within ${deadlineMs} ms`);
    }
    if (server === prometheusUrl) return this.#asked(path);
    return server === alertmanagerUrl ? this.#alertsText() : this.#loadText(node);
  };

  #isAway(server: string, node: string): boolean {
    if (server === prometheusUrl) return this.prometheus.isAway;
    return server === alertmanagerUrl ? this.isAlertmanagerAway : this.silent.has(node);
  }

  #asked(path: string): string {
    const text = this.prometheus.answer(path);
    if (text === undefined) throw new UnexpectedStatus(400);
    return text;
  }

  #alertsText(): string {
    const alerts = [...this.alerts].map(([alertname, sinceMs]) => ({
      labels: { alertname },
      startsAt: new Date(sinceMs).toISOString(),
    }));
    return JSON.stringify(alerts);
  }

  #loadText(node: string): string {
    const dueMs = this.due.get(node);
    return [
      "levee_waiting 0",
      "levee_running 0",
      "levee_leaks 0",
      `levee_node_reboot_required{node="${node}"} ${dueMs === undefined ? 0 : 1}`,
      ...(dueMs === undefined
        ? []
        : [`levee_node_reboot_required_since_timestamp_seconds{node="${node}"} ${dueMs / 1_000}`]),
      "",
    ].join("\n");
  }

  isCordoned(node: string): boolean {
    return objectOf(this.#options.api.get("nodes", `/${node}`)?.["spec"])["unschedulable"] === true;
  }
}
