import type { Namespace, PodName } from "../../base/brand.ts";
import type { Cancel, Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { Waiters } from "../../base/waiters.ts";
import { KubeError, kubeStatusOf, type FollowableApi } from "../client/api.ts";
import { NetworkBudget } from "./network-budget.ts";
import type { ChangeListener } from "./object-store.ts";
import { SharedTexts } from "../../base/shared-texts.ts";
import { projectNetwork, projectPod, sameNetwork, samePod, type NamesPod } from "./project.ts";
import { Reflector } from "./reflector.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { ReflectorHealth } from "./reflector-health.ts";
import type { WantedPod } from "../../view/view.ts";

const networksGroup = "/apis/k8s.cni.cncf.io/v1";

interface ClusterViewOptions {
  readonly api: FollowableApi;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The view has only the pods of this node. */
  readonly nodeName: string;
  /** Pods that count as critical, whatever their priority is. */
  readonly isNamed?: NamesPod;
}

interface ClusterHealth {
  readonly pods: ReflectorHealth;
  readonly networks: ReflectorHealth;
}

/**
 * A local copy of this node's pods and of all networks, which follows the API server. It serves its copy while the server
 * is away. The constructor does not wait for the first lists: see `synced()`.
 */
export class ClusterView {
  readonly #api: FollowableApi;
  readonly #texts = new SharedTexts();
  readonly #isNamed: NamesPod | undefined;
  readonly #waiters = new Waiters<PodFacts>();
  readonly #pods: Reflector<PodFacts>;
  readonly #networks: Reflector<NetworkDefinition>;
  #isClosed = false;

  constructor({ api, clock, logger, nodeName, isNamed }: ClusterViewOptions) {
    this.#api = api;
    this.#isNamed = isNamed;
    this.#pods = new Reflector({
      api,
      clock,
      logger,
      resource: "pods",
      path: "/api/v1/pods",
      query: { fieldSelector: `spec.nodeName=${nodeName}` },
      isOneOfMany: true,
      project: (object) => projectPod(object, this.#texts, isNamed),
      isSame: samePod,
    });
    const budget = new NetworkBudget({ known: (namespace, name) => this.#networks.store.get(namespace, name) });
    this.#networks = new Reflector({
      api,
      clock,
      logger,
      resource: "network-attachment-definitions",
      path: `${networksGroup}/network-attachment-definitions`,
      isOneOfMany: true,
      project: (object) => {
        const network = projectNetwork(object, this.#texts);
        return network === undefined ? undefined : budget.fit(network);
      },
      isSame: sameNetwork,
    });
    this.#networks.store.onChange((change) => budget.changed(change));
    this.#pods.store.onChange(({ now }) => {
      if (now !== undefined) this.#waiters.serve(now);
    });
    this.#pods.start();
    this.#networks.start();
  }

  findPod(namespace: Namespace, name: PodName): Promise<PodFacts | undefined> {
    return Promise.resolve(this.#pods.store.get(namespace, name));
  }

  findNetwork(namespace: Namespace, name: string): Promise<NetworkDefinition | undefined> {
    return Promise.resolve(this.#networks.store.get(namespace, name));
  }

  /** Resolves when the watch brings the wanted pod; rejects with the signal's reason, or `cancelled` when closed. */
  async waitForPod(wanted: WantedPod, signal: AbortSignal): Promise<PodFacts> {
    signal.throwIfAborted();
    const pod = this.#pods.store.get(wanted.namespace, wanted.name);
    if (pod !== undefined && wanted.isWanted(pod)) return pod;
    if (this.#isClosed) throw closedError();
    const { namespace, name, isWanted } = wanted;
    const isIt = (one: PodFacts): boolean => one.name === name && one.namespace === namespace && isWanted(one);
    return await this.#waiters.wait(isIt, signal);
  }

  /** One live GET; undefined when the server has no such pod. It does not change the local copy. */
  async readPod(
    namespace: Namespace,
    name: PodName,
    deadlineMs: number,
    signal?: AbortSignal,
  ): Promise<PodFacts | undefined> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
    return await this.#read(path, { deadlineMs, signal }, (object) => projectPod(object, this.#texts, this.#isNamed));
  }

  /** One live GET; undefined when the server has no such network, or no CRD for networks. */
  async readNetwork(
    namespace: Namespace,
    name: string,
    deadlineMs: number,
    signal?: AbortSignal,
  ): Promise<NetworkDefinition | undefined> {
    const path = `${networksGroup}/namespaces/${encodeURIComponent(namespace)}/network-attachment-definitions/${encodeURIComponent(name)}`;
    return await this.#read(path, { deadlineMs, signal }, (object) => projectNetwork(object, this.#texts));
  }

  pods(): Iterable<PodFacts> {
    return this.#pods.store.values();
  }

  networks(): Iterable<NetworkDefinition> {
    return this.#networks.store.values();
  }

  /** Whether the first list of pods is complete, and that of networks too unless the cluster has no CRD for them. */
  synced(): boolean {
    const { pods, networks } = this.health();
    return pods.isSynced && (networks.isSynced || this.#networks.isAbsent);
  }

  /** Resolves when the first list of pods is complete. It does not wait for networks: their CRD may be missing. */
  podsSynced(): Promise<void> {
    return this.#pods.synced;
  }

  health(): ClusterHealth {
    return { pods: this.#pods.health(), networks: this.#networks.health() };
  }

  onPodChange(listener: ChangeListener<PodFacts>): Cancel {
    return this.#pods.store.onChange(listener);
  }

  onNetworkChange(listener: ChangeListener<NetworkDefinition>): Cancel {
    return this.#networks.store.onChange(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiters.rejectAll(closedError());
    await Promise.all([this.#pods.close(), this.#networks.close()]);
  }

  async #read<T>(
    path: string,
    limits: ReadLimits,
    project: (object: unknown) => T | undefined,
  ): Promise<T | undefined> {
    const { deadlineMs, signal } = limits;
    try {
      const text = await this.#api.call({
        method: "GET",
        path,
        deadlineMs,
        ...(signal === undefined ? {} : { signal }),
      });
      const object = project(JSON.parse(text));
      if (object !== undefined) return object;
      throw new SyntaxError("it has no name");
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return undefined;
      if (!(thrown instanceof SyntaxError)) throw thrown;
      throw new KubeError("api-unreachable", `Cannot read ${path}: the answer is not such an object`, {
        cause: thrown,
      });
    }
  }
}

interface ReadLimits {
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

function closedError(): LeveeError {
  return new LeveeError("cancelled", "Cannot wait for a pod as the view of the cluster is closed");
}
