import type { AttachmentsAnswer, GcAnswer, LeaksAnswer, NetworkReadyView } from "../../src/wire/node-view.ts";
import type { TopAnswer } from "../../src/wire/top-view.ts";
import type { KubeObject } from "../e2e/api.ts";
import { applyAll, pathOf } from "../e2e/manifests.ts";
import { leveeNamespace } from "../e2e/node/levee-node.ts";
import { isReady, type Pod } from "../e2e/pods.ts";
import { say } from "../e2e/say.ts";
import type { ControlPlane } from "./control-plane.ts";
import type { VirtualMachine } from "./machine/virtual-machine.ts";
import { slowly } from "./slowly.ts";

const socketDir = "/run/levee";
const metricsUrl = "http://127.0.0.1:9810/metrics";

interface DaemonSetObject extends KubeObject {
  readonly status?: { readonly desiredNumberScheduled?: number; readonly numberReady?: number };
}

/** Levee on the node, as its shipped DaemonSets run it. */
export class LeveeInGuest {
  readonly #machine: VirtualMachine;
  readonly #plane: ControlPlane;

  constructor(machine: VirtualMachine, plane: ControlPlane) {
    this.#machine = machine;
    this.#plane = plane;
  }

  async install(manifest: readonly KubeObject[]): Promise<void> {
    await applyAll(this.#plane.api, manifest);
    await this.untilReady();
  }

  /** Both DaemonSets have their pod, and the daemon answers. */
  async untilReady(): Promise<void> {
    await slowly(
      "Levee's pods are ready",
      async () => {
        const sets = await this.#plane.api.list<DaemonSetObject>(pathOf("DaemonSet", leveeNamespace));
        const late = sets.filter(({ status }) => status?.numberReady !== 1 || status.desiredNumberScheduled !== 1);
        if (sets.length === 2 && late.length === 0) return true;
        throw new Error(`not ready: ${late.map(({ metadata }) => metadata.name).join(", ")} of ${sets.length}`);
      },
      { everyMs: 1_000 },
    );
    const { attachments } = await slowly("the daemon answers", () => this.attachments());
    say(`Levee is ready, with ${attachments.length} pods attached`);
  }

  pods(): Promise<readonly Pod[]> {
    return this.#plane.pods.list(leveeNamespace);
  }

  /** The pod of a DaemonSet: `daemon` or `hand`. */
  async pod(component: "daemon" | "hand"): Promise<Pod> {
    const pods = await this.pods();
    const own = pods.filter((pod) => isReady(pod) && labelOf(pod) === component);
    if (own.length !== 1) throw new Error(`There are ${own.length} ready pods of the ${component}`);
    return own[0] as Pod; // counted above
  }

  attachments(): Promise<AttachmentsAnswer> {
    return this.#command<AttachmentsAnswer>("ls");
  }

  leaks(): Promise<LeaksAnswer> {
    return this.#command<LeaksAnswer>("leaks");
  }

  /** Looks for what is left over, and for pods without a network that they asked for. */
  gc(): Promise<GcAnswer> {
    return this.#command<GcAnswer>("gc");
  }

  /** Why a network is not ready on the node; undefined when it is. */
  async unready(network: string): Promise<string | undefined> {
    // A check that fails is an answer too.
    const { stdout } = await this.#machine.shell.try(`levee check node --socket-dir ${socketDir} -o json`);
    const { nodes } = JSON.parse(stdout) as { nodes: readonly { networks: readonly NetworkReadyView[] }[] }; // ours
    const found = nodes[0]?.networks.find((candidate) => candidate.network === network);
    if (found === undefined) throw new Error(`levee check node does not know ${network}: ${stdout}`);
    return found.state === "ready" ? undefined : `${found.state}: ${found.reasons.join("; ")}`;
  }

  top(): Promise<TopAnswer> {
    return this.#command<TopAnswer>("top");
  }

  /** The value of a metric, by its name and labels as Prometheus writes them. */
  async metric(series: string): Promise<number | undefined> {
    const text = await this.#machine.shell.run(`curl --silent --show-error --fail ${metricsUrl}`);
    const line = text.split("\n").find((candidate) => candidate.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  async #command<T>(name: string): Promise<T> {
    return JSON.parse(await this.#machine.shell.run(`levee ${name} --socket-dir ${socketDir} -o json`)) as T; // ours
  }
}

function labelOf(pod: Pod): unknown {
  const labels = pod.metadata["labels"] as Readonly<Record<string, string>> | undefined; // Kubernetes' own shape
  return labels?.["app.kubernetes.io/component"];
}
