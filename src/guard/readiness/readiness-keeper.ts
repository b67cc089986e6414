import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { nodesToAsk } from "../observe/nodes-to-ask.ts";
import { countingNodes, judgeReadiness } from "./judge-readiness.ts";
import { askNetworkWords, type WordsOfNode } from "./network-words.ts";
import { listReadiness, markOfNetwork, labelledNodes } from "./read-readiness.ts";
import { renewedStatus, statusPath, type ReadinessObject } from "./readiness-object.ts";

interface ReadinessKeeperOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  /** The metrics port of the nodes' daemons. Absent: no daemon is asked, and no object gets a status. */
  readonly daemonPort?: number;
  readonly facts: { isCurrent(): boolean; world(): World };
  readonly isLeader: () => boolean;
}

/** How soon a new object gets its first status. */
const listMs = 5_000;
/** While something is awaited. On large clusters a sweep pauses for as long as it needs 12 ms for each node. */
const awaitedMs = 10_000;
const readyMs = 60_000;
const perNodeMs = 12;
const requestMs = 5_000;
/** Then the API server refuses everything, and the next sweep tries again. */
const failuresMax = 3;

/**
 * Writes into each NetworkReadiness whether its network is ready on its nodes, as long as this guard leads. Without such
 * an object nothing is asked. A status that is not renewed expires.
 */
export class ReadinessKeeper {
  readonly #options: ReadinessKeeperOptions;
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #sweptMs = Number.NEGATIVE_INFINITY;
  #pauseMs = 0;
  #seen = "";

  constructor(options: ReadinessKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.daemonPort !== undefined) this.#loop ??= this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the guard ends"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#look().catch((thrown: unknown) => {
        if (!signal.aborted)
          logger.warn("Cannot tell which networks are ready", { error: toLeveeError(thrown, "Cannot look").message });
      });
      await clock.sleep(listMs, signal).catch(() => undefined);
    }
  }

  async #look(): Promise<void> {
    const { clock, facts, isLeader } = this.#options;
    if (!isLeader() || !facts.isCurrent()) return;
    const objects = await listReadiness(this.#options.api, this.#stop.signal);
    // An object that is new or was changed waits for no pause.
    const seen = objects.map(({ namespace, name, generation }) => `${namespace}/${name}/${generation}`).join(" ");
    const isDue = seen !== this.#seen || clock.monotonicMs() - this.#sweptMs >= this.#pauseMs;
    if (objects.length === 0 || !isDue) return;
    this.#seen = seen;
    await this.#sweep(objects);
    this.#sweptMs = clock.monotonicMs();
  }

  async #sweep(objects: readonly ReadinessObject[]): Promise<void> {
    const { clock, facts, settings, daemonPort: port = 0 } = this.#options;
    const { signal } = this.#stop;
    const world = facts.world();
    const networks = [...new Set(objects.map(({ namespace, network }) => `${namespace}/${network}`))];
    const words = await askNetworkWords(nodesToAsk(world, settings), networks, { clock, port }, signal);
    let isAwaited = false;
    let failures = 0;
    for (const object of objects) {
      if (failures >= failuresMax || signal.aborted) return;
      const status = await this.#judge(object, words).catch((thrown: unknown) => this.#failed(object, thrown));
      failures += status === "failed" ? 1 : 0;
      isAwaited ||= status !== "True";
    }
    this.#pauseMs = Math.max(isAwaited ? awaitedMs : readyMs, world.nodes.length * perNodeMs);
  }

  async #judge(object: ReadinessObject, words: ReadonlyMap<string, WordsOfNode>): Promise<string> {
    const { api, clock, facts, isLeader, logger } = this.#options;
    const { signal } = this.#stop;
    const network = `${object.namespace}/${object.network}`;
    const selected = await labelledNodes(api, object.nodeSelector, signal);
    const verdict = judgeReadiness({
      mark: await markOfNetwork(api, object, signal),
      nodes: countingNodes(facts.world().nodes, selected),
      wordOf: (node) => words.get(node)?.get(network),
    });
    const status = renewedStatus(object, verdict, clock.wallMs());
    if (status === undefined || !isLeader()) return verdict.status;
    await api.call({
      method: "PATCH",
      path: statusPath(object),
      contentType: "application/merge-patch+json",
      accept: metadataOnly,
      body: JSON.stringify({ status }),
      deadlineMs: requestMs,
      signal,
    });
    const { name, status: before } = object;
    if (before?.conditions[0].status !== verdict.status)
      logger.info("Changed the readiness of a network", {
        network,
        object: name,
        ready: verdict.status,
        why: verdict.message,
      });
    return verdict.status;
  }

  #failed({ namespace, name }: ReadinessObject, thrown: unknown): "failed" {
    const { message } = toLeveeError(thrown, "Cannot write");
    this.#options.logger.warn("Cannot say whether a network is ready", {
      object: `${namespace}/${name}`,
      error: message,
    });
    return "failed";
  }
}
