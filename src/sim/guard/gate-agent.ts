import { gateLabel, gateLabelDeny } from "../../base/annotations.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import { GateWatch } from "../../daemon/gate/gate-watch.ts";
import { kubeGate } from "../../daemon/gate/kube-gate.ts";
import { MetricsRegistry } from "../../daemon/metrics/metrics-registry.ts";
import { objectOf } from "../../kube/client/json-fields.ts";
import { projectPod } from "../../kube/watch/project.ts";
import type { SimApi } from "../api/sim-api.ts";
import type { SimListener } from "../node/sim-event.ts";
import type { Seeded } from "../time/seeded.ts";
import { SimProcess } from "../time/sim-process.ts";
import type { SimTime } from "../time/sim-time.ts";
import type { ApiServer } from "./api-server.ts";
import type { ClusterFleet } from "./cluster-fleet.ts";
import { simGuardNamespace } from "./cluster-objects.ts";
import { GuardConnection } from "./guard-connection.ts";
import type { RebootSettings } from "./reboot-settings.ts";

interface AgentNeeds {
  readonly node: string;
  readonly api: SimApi;
  readonly server: ApiServer;
  readonly fleet: ClusterFleet;
  readonly time: SimTime;
  readonly seeded: Seeded;
  readonly say: SimListener;
  readonly reboots: RebootSettings;
  /** Called at the instant of each reboot. */
  readonly onReboot: (node: string) => void;
}

const lookMs = 20_000;

/**
 * The daemon's side of the reboot gate on one node, with the daemon's own code, and a program that reboots the node when
 * the ticket or the label lets it.
 */
export class GateAgent {
  readonly #needs: AgentNeeds;
  readonly #process: SimProcess;
  /** The door that the program of this node looks at. */
  readonly #isByLabel: boolean;
  #ticketEndsMs = 0;

  constructor(needs: AgentNeeds) {
    this.#needs = needs;
    this.#process = new SimProcess(needs.time, needs.seeded.fork("agent"));
    const isByLabel = needs.seeded.chance(0.5);
    const { door } = needs.reboots;
    this.#isByLabel = door === "either" ? isByLabel : door === "label";
  }

  start(): void {
    const { node, api, server, time, seeded } = this.#needs;
    const process = this.#process;
    const link = { isCut: false, lateShare: 0, lateMs: 0 };
    const user = { account: "daemon", name: node } as const;
    const connection = new GuardConnection({ api, server, time, process, user, link, seeded: seeded.fork("way") });
    const texts = new SharedTexts();
    const pods = () => this.#ownPods().flatMap((pod) => projectPod(pod, texts) ?? []);
    const logger = { debug: noop, info: noop, warn: noop, error: noop };
    const source = kubeGate({ api: connection, nodeName: node, namespace: simGuardNamespace, pods });
    const ticket = {
      write: ({ isAllowed, standsMs }: { isAllowed: boolean; standsMs: number }) => {
        this.#ticketEndsMs = isAllowed ? process.monotonicMs() + standsMs : 0;
        return Promise.resolve();
      },
    };
    // It runs until the end of the world.
    void new GateWatch({
      clock: process,
      logger,
      metrics: new MetricsRegistry(),
      nodeName: node,
      source,
      // Where only the label is looked at, the daemon has no `gateFile`, as in the manifests.
      ticket: this.#needs.reboots.door === "label" ? undefined : ticket,
      lookMs,
    });
    this.#askAgain(this.#needs.reboots.askMs.first);
  }

  #askAgain(leastMs?: number): void {
    const { seeded, time, reboots } = this.#needs;
    const { min, max } = reboots.askMs;
    time.after(seeded.between(leastMs ?? min, max), () => {
      this.#ask();
      this.#askAgain();
    });
  }

  #ask(): void {
    const { node, fleet, time, onReboot } = this.#needs;
    if (!fleet.due.has(node) || fleet.isCordoned(node) || fleet.silent.has(node)) return;
    const isOpen = this.#isByLabel ? this.#isLabelOpen() : this.#ticketEndsMs > time.nowMs;
    if (!isOpen) return;
    onReboot(node);
    fleet.reboot(node);
  }

  /** As kured's --blocking-pod-selector levee.dev/reboot=deny. */
  #isLabelOpen(): boolean {
    return this.#ownPods().every((pod) => objectOf(objectOf(pod["metadata"])["labels"])[gateLabel] !== gateLabelDeny);
  }

  #ownPods() {
    const { api, node } = this.#needs;
    return api.objects("pods").filter((pod) => {
      const isHere = objectOf(pod["spec"])["nodeName"] === node;
      return isHere && objectOf(pod["metadata"])["namespace"] === simGuardNamespace;
    });
  }
}

function noop(): void {
  // What it says is told by the guard too.
}
