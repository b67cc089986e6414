import type { Clock } from "../../../base/clock.ts";
import { kubeStatusOf, type KubeApi } from "../../../kube/client/api.ts";
import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { timeMs } from "../../json-values.ts";

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/medik8s-leases/leases";
const holder = "levee-guard";
/** As medik8s' own operators take it. */
const leaseSeconds = 3_600;
/** Well before the end, so that a lease stays held over a restart of the guard. */
const renewMs = 1_200_000;
const requestMs = 5_000;
/** Per look: two requests each. */
const changesPerLookMax = 20;

/**
 * medik8s' lease of each node, held while its gate does not allow: Node Maintenance and the remediators wait for it. A
 * lease ends with its time, so this door opens an hour after its last holder has died.
 */
export class LeaseDoor {
  readonly #api: KubeApi;
  readonly #clock: Clock;
  /** When each was last renewed. */
  readonly #held = new Map<string, number>();

  constructor({ api, clock }: { readonly api: KubeApi; readonly clock: Clock }) {
    this.#api = api;
    this.#clock = clock;
  }

  /** Holds the leases of these nodes and gives back all others that it held. Rejects when the API server refuses. */
  async hold(nodes: ReadonlySet<string>, mayWrite: () => boolean): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    const due = [...nodes].filter((node) => nowMs - (this.#held.get(node) ?? Number.NEGATIVE_INFINITY) >= renewMs);
    const over = [...this.#held.keys()].filter((node) => !nodes.has(node));
    for (const node of [...due, ...over].slice(0, changesPerLookMax)) {
      if (!mayWrite()) return;
      await (nodes.has(node) ? this.#take(node, nowMs) : this.#giveBack(node));
    }
  }

  async #take(node: string, nowMs: number): Promise<void> {
    const found = await this.#read(node);
    const time = new Date(this.#clock.wallMs()).toISOString().replace(/Z$/u, "000Z");
    const spec = { holderIdentity: holder, leaseDurationSeconds: leaseSeconds, acquireTime: time, renewTime: time };
    const metadata = { name: leaseName(node), namespace: "medik8s-leases" };
    const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
    if (found === undefined) await this.#send("POST", leasesPath, body);
    else if (found.holder === holder || found.isOver)
      await this.#send("PUT", `${leasesPath}/${leaseName(node)}`, {
        ...body,
        metadata: { ...metadata, resourceVersion: found.resourceVersion },
      });
    // Somebody else holds it and keeps the node from others too; the next look tries again.
    else return;
    this.#held.set(node, nowMs);
  }

  async #giveBack(node: string): Promise<void> {
    const found = await this.#read(node);
    if (found?.holder === holder)
      await this.#send("DELETE", `${leasesPath}/${leaseName(node)}`, {
        preconditions: { resourceVersion: found.resourceVersion },
      });
    this.#held.delete(node);
  }

  async #read(node: string): Promise<HeldLease | undefined> {
    try {
      const path = `${leasesPath}/${leaseName(node)}`;
      const lease: unknown = JSON.parse(await this.#api.call({ method: "GET", path, deadlineMs: requestMs }));
      const spec = objectOf(objectOf(lease)["spec"]);
      const seconds = Number(spec["leaseDurationSeconds"] ?? 0);
      return {
        holder: textOf(spec["holderIdentity"]),
        resourceVersion: textOf(objectOf(objectOf(lease)["metadata"])["resourceVersion"]),
        isOver: timeMs(spec["renewTime"]) + seconds * 1_000 < this.#clock.wallMs(),
      };
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return undefined;
      throw thrown;
    }
  }

  async #send(method: "POST" | "PUT" | "DELETE", path: string, body: object): Promise<void> {
    await this.#api.call({ method, path, body: JSON.stringify(body), deadlineMs: requestMs });
  }
}

interface HeldLease {
  readonly holder: string;
  readonly resourceVersion: string;
  readonly isOver: boolean;
}

function leaseName(node: string): string {
  return `node-${node}`;
}
