import type {
  ConsoleNetworkStory,
  ConsoleNodeStory,
  ConsolePodStory,
  ConsoleTopic,
  PodMatches,
} from "../../wire/console-story.ts";
import type { StormHistory } from "../../wire/console-storm.ts";
import type { ConsoleDesk } from "../serve/console-desk.ts";
import type { ConsoleParts } from "../serve/console-feed.ts";
import { alertSums, type AlertsSeen } from "../view/alert-sums.ts";
import { decisionCards } from "../view/decision-cards.ts";
import { sortedNetworks } from "../view/network-lines.ts";
import { nowLine } from "../view/now-line.ts";
import { pluginLines } from "../view/plugin-lines.ts";
import { matchingPods, PodBook } from "../view/pod-book.ts";
import { rebootLines } from "../view/reboot-lines.ts";
import { stormPast } from "../view/storm-past.ts";
import { StormRing } from "../view/storm-ring.ts";
import { ClusterCopy, type CopyOptions } from "./cluster-copy.ts";
import { networkSights, nodeCells, rebootMarks } from "./cluster-sights.ts";
import { DaemonAsker, type NodePath } from "./daemon-asker.ts";
import { clusterSources, type AlertsNow } from "./cluster-sources.ts";
import { networkStory } from "./network-story.ts";
import { nodeStoryOf } from "./node-story.ts";
import { stormCount, stormView } from "./cluster-storm.ts";

export interface ClusterDeskOptions extends CopyOptions {
  readonly askNode: AskNode;
  /** Asked every half minute. */
  readonly seeAlerts: (signal: AbortSignal) => Promise<AlertsSeen>;
  readonly story: (pod: PodAt) => Promise<ConsolePodStory | undefined>;
  readonly explain: (code: string) => ConsoleTopic | undefined;
  readonly history: (hours: number) => Promise<StormHistory | undefined>;
}

/** Asks a node's daemon on its metrics port, with the viewer's rights. */
export type AskNode = (node: NodeAt, path: NodePath, signal: AbortSignal) => Promise<string>;

/** A node, and its internal address; empty where it has none. */
interface NodeAt {
  readonly name: string;
  readonly address: string;
}

/** A pod that somebody asks about. */
export interface PodAt {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: NodeAt;
  /** `NAMESPACE/NAME` of the daemon's pod on its node; empty when there is none. */
  readonly daemon: string;
}

const alertsMs = 30_000;
const ringMs = 1_000;
/** A bound pod starts within seconds; the guard calls it stuck after this. */
const stuckAfterMs = 300_000;
/** Without any change, ages and the verdicts of gates still move on. */
const keptMs = 2_000;

/** The console's facts about a cluster, with the rights of one viewer. */
export class ClusterDesk implements ConsoleDesk {
  readonly #options: ClusterDeskOptions;
  readonly #copy: ClusterCopy;
  readonly #asker: DaemonAsker;
  readonly #book = new PodBook();
  readonly #ring = new StormRing();
  readonly #stop = new AbortController();
  readonly #loops: Promise<unknown>[] = [];
  #alerts: AlertsNow = { why: "no Alertmanager was asked yet" };
  #parts: ConsoleParts | undefined;

  constructor(options: ClusterDeskOptions) {
    this.#options = options;
    this.#copy = new ClusterCopy(options);
    this.#asker = new DaemonAsker({
      clock: options.clock,
      ask: (name, path, signal) => {
        const { address = "" } = this.#copy.nodes.store.get("", name) ?? {};
        return options.askNode({ name, address }, path, signal);
      },
      nodes: () => (this.#copy.hasDaemons() ? [...this.#copy.nodes.store.values()].map(({ name }) => name) : []),
      close: () => this.#book.nodesWithWaiting(),
      onHeard: () => this.#forget(),
    });
    this.#copy.pods.store.onChange((change) => this.#book.change(change));
    this.#copy.onChange(() => this.#forget());
  }

  /** Returns at once; `ready` says when there is something to show. */
  start(): void {
    this.#copy.start();
    this.#asker.start();
    this.#loops.push(
      this.#loop(ringMs, () => this.#mark()),
      this.#loop(alertsMs, () => this.#lookAtAlerts()),
    );
  }

  /** Resolves when every first list is complete, refused or impossible. */
  async ready(): Promise<void> {
    const { clock } = this.#options;
    while (
      !this.#stop.signal.aborted &&
      this.#copy.health().some((health) => !health.isSynced && health.lastError === undefined)
    )
      await clock.sleep(50, this.#stop.signal).catch(() => undefined);
  }

  parts(): ConsoleParts {
    const nowMs = Math.round(this.#options.clock.wallMs());
    if (this.#parts !== undefined && nowMs - this.#parts.asOfMs < keptMs) return this.#parts;
    this.#parts = this.#look(nowMs);
    return this.#parts;
  }

  pods(match: string): PodMatches {
    return matchingPods(this.#copy.pods.store.values(), match);
  }

  pod(namespace: string, name: string): Promise<ConsolePodStory | undefined> {
    const { node = "", uid = "" } = this.#copy.pods.store.get(namespace, name) ?? {};
    const { address = "" } = this.#copy.nodes.store.get("", node) ?? {};
    const daemon = node === "" ? "" : this.#copy.daemonOn(node);
    return this.#options.story({ namespace, name, uid, node: { name: node, address }, daemon });
  }

  network(name: string): ConsoleNetworkStory | undefined {
    return networkStory(name, { copy: this.#copy, book: this.#book, said: this.#asker.all() });
  }

  node(name: string): Promise<ConsoleNodeStory | undefined> {
    const cell = this.parts().nodes.find((one) => one.name === name);
    if (cell === undefined) return Promise.resolve(undefined);
    const { deep } = this.#asker.of(name) ?? {};
    return Promise.resolve(nodeStoryOf(cell, deep, `levee check node ${name}`));
  }

  explain(code: string): ConsoleTopic | undefined {
    return this.#options.explain(code);
  }

  history(hours: number): Promise<StormHistory | undefined> {
    return this.#options.history(hours);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the console ends"));
    await Promise.all([this.#asker.close(), this.#copy.close(), ...this.#loops]);
  }

  #look(nowMs: number): ConsoleParts {
    const world = { copy: this.#copy, book: this.#book, said: this.#asker.all() };
    const gates = new Map([...this.#copy.gates.store.values()].map(({ name, gate }) => [name, gate]));
    const decisions = decisionCards(
      this.#copy.decisions.store.values(),
      [...this.#copy.approvals.store.values()].map(({ approval }) => approval),
    );
    const nodes = nodeCells(world, { gates, nowMs });
    const reboots = rebootLines(gates, rebootMarks(world.said), nowMs);
    const alerts = alertSums(
      this.#alerts,
      decisions.filter(({ isOpen }) => isOpen),
      (name) => this.#options.explain(name) !== undefined,
    );
    const sources = clusterSources({ copy: this.#copy, asker: this.#asker, alerts: this.#alerts, nowMs });
    const stuck = this.#book.waitingSince(nowMs - stuckAfterMs);
    const facts = { nodes, cards: decisions, reboots, alerts, sources, waiting: this.#book.waiting, stuck };
    return {
      asOfMs: nowMs,
      now: nowLine({ ...facts, isLed: this.#isLed(nowMs) }),
      sources,
      nodes,
      storm: stormView(world, this.#ring),
      networks: sortedNetworks(networkSights(world)),
      plugins: pluginLines([...world.said.values()].map(({ facts: said }) => said?.plugins ?? [])),
      decisions,
      alerts,
      reboots,
    };
  }

  /** Undefined where no guard ever led. */
  #isLed(nowMs: number): boolean | undefined {
    const [seat] = this.#copy.lease.store.values();
    return seat === undefined ? undefined : seat.holder !== "" && nowMs <= seat.untilMs;
  }

  #mark(): void {
    if (!this.#copy.pods.health().isSynced) return;
    const nowMs = Math.round(this.#options.clock.wallMs());
    const isFirst = this.#ring.points.length === 0;
    this.#ring.add(nowMs, stormCount(this.#book, this.#asker.all()));
    if (isFirst) this.#ring.fillIn(stormPast(this.#copy.pods.store.values(), nowMs));
    this.#forget();
  }

  async #lookAtAlerts(): Promise<void> {
    const seen = await this.#options.seeAlerts(this.#stop.signal);
    this.#alerts = "why" in seen ? seen : { ...seen, asOfMs: Math.round(this.#options.clock.wallMs()) };
    this.#forget();
  }

  /** The next look computes anew. */
  #forget(): void {
    this.#parts = undefined;
  }

  async #loop(everyMs: number, work: () => unknown): Promise<void> {
    const { clock, logger } = this.#options;
    while (!this.#stop.signal.aborted) {
      try {
        await work();
      } catch (thrown) {
        if (!this.#stop.signal.aborted) logger.warn("The console could not look", { error: String(thrown) });
      }
      await clock.sleep(everyMs, this.#stop.signal).catch(() => undefined);
    }
  }
}
