import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import { eventBody, eventMessage, eventName } from "../../kube/outbox/event-body.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";
import type { NetworkWarning } from "./network-warning.ts";

interface WarningEventsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Unique to this process. */
  readonly identity: string;
}

/** Whoever may write definitions must not fill the cluster with events: one namespace, and all together. */
const namespaceBudget = { burst: 10, refillMs: 60_000 };
const clusterBudget = { burst: 50, refillMs: 5_000 };
/** Budgets of namespaces that are kept; the oldest go first. */
const namespacesMax = 1_000;
const requestMs = 10_000;
/** The namespace does not exist any more, or takes nothing new while it ends. */
const lostStatuses: readonly number[] = [403, 404];

const reasons = {
  changed: "NetworkChangedInUse",
  deleted: "NetworkDeletedInUse",
  overlap: "AddressesOverlap",
} as const satisfies Record<NetworkWarning["kind"], string>;

/** Writes one event per matter on its network definition. One that the budget does not allow waits for a later look. */
export class WarningEvents {
  readonly #options: WarningEventsOptions;
  readonly #told = new Set<string>();
  readonly #cluster: TokenBucket;
  readonly #namespaces = new Map<string, TokenBucket>();

  constructor(options: WarningEventsOptions) {
    this.#options = options;
    this.#cluster = new TokenBucket(options.clock, clusterBudget);
  }

  /** Tells those that are new. A matter that is over and comes again is told again. */
  async tell(warnings: readonly NetworkWarning[]): Promise<void> {
    const standing = new Set(warnings.map(({ key }) => key));
    for (const key of this.#told) if (!standing.has(key)) this.#told.delete(key);
    for (const warning of warnings) {
      if (this.#told.has(warning.key) || !this.#isAllowed(warning.network.namespace)) continue;
      if (!(await this.#write(warning))) return;
      this.#told.add(warning.key);
    }
  }

  #isAllowed(namespace: string): boolean {
    const own = this.#namespaces.get(namespace) ?? new TokenBucket(this.#options.clock, namespaceBudget);
    this.#namespaces.delete(namespace);
    this.#namespaces.set(namespace, own);
    const [oldest] = this.#namespaces.keys();
    if (this.#namespaces.size > namespacesMax && oldest !== undefined) this.#namespaces.delete(oldest);
    return own.waitMs() === 0 && this.#cluster.take() && own.take();
  }

  /** False when the API server does not answer: then the others wait as well. */
  async #write(warning: NetworkWarning): Promise<boolean> {
    const { api, logger } = this.#options;
    const { namespace, name } = warning.network;
    try {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
      const body = this.#event(warning);
      await api.call({ method: "POST", path, body, accept: metadataOnly, deadlineMs: requestMs });
      logger.warn("Warned of a network definition", { network: `${namespace}/${name}`, why: warning.message });
      return true;
    } catch (thrown) {
      const status = kubeStatusOf(thrown) ?? 0;
      // The name says what the event is about, so an earlier leader has told it.
      if (status === 409) return true;
      const { message } = toLeveeError(thrown, "Cannot tell");
      logger.warn("Cannot write an Event", { network: `${namespace}/${name}`, error: message });
      return lostStatuses.includes(status);
    }
  }

  #event({ kind, network, key, message }: NetworkWarning): string {
    const { clock, identity } = this.#options;
    const { namespace, name, uid } = network;
    const about = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", namespace, name, uid };
    const nowMs = clock.wallMs();
    const mark = createHash("sha256").update(key, "utf8").digest().subarray(0, 8);
    return eventBody(
      { namespace, name: eventName(about, mark) },
      about,
      { type: "Warning", reason: reasons[kind], message: eventMessage(message) },
      {
        source: { component: "levee-guard", host: identity },
        counts: { count: 1, firstWallMs: nowMs, lastWallMs: nowMs },
      },
    );
  }
}
