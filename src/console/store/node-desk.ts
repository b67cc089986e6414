import type { Clock } from "../../base/clock.ts";
import type {
  ConsoleNetworkStory,
  ConsoleNodeStory,
  ConsolePodStory,
  ConsoleTopic,
  PodMatch,
  PodMatches,
} from "../../wire/console-story.ts";
import type { ConsoleSource } from "../../wire/console-view.ts";
import type { AttachmentView, ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";
import type { TopAnswer } from "../../wire/top-view.ts";
import type { ConsoleDesk } from "../serve/console-desk.ts";
import type { ConsoleParts } from "../serve/console-feed.ts";
import { nodeCell } from "../view/node-cells.ts";
import { nowLine } from "../view/now-line.ts";
import { byWeight } from "../view/pod-book.ts";
import { StormRing } from "../view/storm-ring.ts";
import { nodeStoryOf } from "./node-story.ts";
import { networksHere, nodePlugins, nodeStorm, topCount, topFacts } from "./node-sights.ts";

/** The daemon of this machine, as its socket answers. Each rejects while it is away. */
interface NodeDaemon {
  top(): Promise<TopAnswer>;
  checks(): Promise<ChecksAnswer>;
  node(): Promise<NodeAnswer>;
  attachments(): Promise<readonly AttachmentView[]>;
}

interface NodeDeskOptions {
  readonly clock: Clock;
  readonly daemon: NodeDaemon;
  readonly story: (namespace: string, name: string) => Promise<ConsolePodStory | undefined>;
  readonly explain: (code: string) => ConsoleTopic | undefined;
}

/** The daemon answers from memory: this often costs it nothing that can be measured. */
const topMs = 1_000;
/** Attachments and checks are longer. */
const slowEvery = 5;
/** A storm on one node is over within minutes, and is worth a point a second. */
const stepMs = 1_000;
const spanMs = 1_800_000;
const matchesMax = 20;

/** The console's facts about this machine, without a cluster. */
export class NodeDesk implements ConsoleDesk {
  readonly #options: NodeDeskOptions;
  readonly #ring = new StormRing(stepMs, spanMs);
  readonly #stop = new AbortController();
  #loop: Promise<void> | undefined;
  #top: TopAnswer | undefined;
  #checks: ChecksAnswer | undefined;
  #node: NodeAnswer | undefined;
  #attachments: readonly AttachmentView[] = [];
  #heardMs = 0;
  #silence = "";

  constructor(options: NodeDeskOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  parts(): ConsoleParts {
    const nowMs = Math.round(this.#options.clock.wallMs());
    const [top, sources] = [this.#top, [this.#source(nowMs)]];
    const nodes = top === undefined ? [] : [nodeCell(this.#sight(top))];
    const waiting = top === undefined ? 0 : topCount(top).waiting;
    const alerts = { why: "without a cluster there is no Alertmanager", names: [] };
    const facts = { nodes, waiting, stuck: 0, cards: [], reboots: [], alerts, sources, isLed: undefined };
    return {
      asOfMs: nowMs,
      now: nowLine(facts),
      sources,
      nodes,
      storm: nodeStorm(top, this.#attachments, this.#ring),
      networks: networksHere(this.#checks, this.#attachments),
      plugins: nodePlugins(top),
      decisions: [],
      alerts,
      reboots: [],
    };
  }

  pods(match: string): PodMatches {
    const wanted = match.trim().toLowerCase();
    if (wanted === "") return { pods: [], more: 0 };
    const found = this.#pods().filter(({ namespace, pod }) => `${namespace}/${pod}`.includes(wanted));
    return { pods: found.slice(0, matchesMax), more: Math.max(0, found.length - matchesMax) };
  }

  pod(namespace: string, name: string): Promise<ConsolePodStory | undefined> {
    return this.#options.story(namespace, name);
  }

  network(name: string): ConsoleNetworkStory | undefined {
    const line = networksHere(this.#checks, this.#attachments).find((one) => one.name === name);
    if (line === undefined) return undefined;
    const users = this.#attachments.filter(({ networks }) => networks.some(({ network }) => network === name));
    const pods = users.map(matchOf).toSorted(byWeight);
    const node = this.#top?.nodeName ?? "";
    return {
      line,
      nodes: line.state === "ok" ? [] : [{ node, state: line.state, why: line.why.join(", ") }],
      pods,
      podsTotal: pods.length,
      addressesWhy: "the console does not read the node's address files",
      config: "",
      command: "levee check node",
    };
  }

  node(name: string): Promise<ConsoleNodeStory | undefined> {
    if (this.#top === undefined || name !== this.#top.nodeName) return Promise.resolve(undefined);
    const [node, checks] = [this.#node, this.#checks];
    const said = node === undefined || checks === undefined ? undefined : { node, checks };
    return Promise.resolve(nodeStoryOf(nodeCell(this.#sight(this.#top)), said, "levee check node"));
  }

  explain(code: string): ConsoleTopic | undefined {
    return this.#options.explain(code);
  }

  history(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the console ends"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    for (let round = 0; !this.#stop.signal.aborted; round += 1) {
      await this.#ask(round % slowEvery === 0);
      await clock.sleep(topMs, this.#stop.signal).catch(() => undefined);
    }
  }

  async #ask(isWhole: boolean): Promise<void> {
    const { clock, daemon } = this.#options;
    try {
      this.#top = await daemon.top();
      this.#attachments = await daemon.attachments();
      if (isWhole) [this.#checks, this.#node] = [await daemon.checks(), await daemon.node()];
      this.#heardMs = Math.round(clock.wallMs());
      this.#silence = "";
      this.#ring.add(this.#heardMs, topCount(this.#top));
    } catch (thrown) {
      this.#silence = thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  #pods(): readonly PodMatch[] {
    return this.#attachments
      .filter(({ pod }) => pod !== "")
      .map(matchOf)
      .toSorted(byWeight);
  }

  #sight(top: TopAnswer): Parameters<typeof nodeCell>[0] {
    const isReady = this.#checks?.isReady;
    return {
      name: top.nodeName,
      isReady,
      daemon: topFacts(top, this.#heardMs),
      silence: this.#silence,
      waitingPods: 0,
      killed: [],
    };
  }

  #source(nowMs: number): ConsoleSource {
    const name = "daemon";
    if (this.#silence === "")
      return this.#heardMs === 0
        ? { name, state: "starting", asOfMs: 0, why: "" }
        : { name, state: "live", asOfMs: nowMs, why: "" };
    return { name, state: this.#heardMs === 0 ? "starting" : "stale", asOfMs: this.#heardMs, why: this.#silence };
  }
}

function matchOf({ namespace, pod, phase }: AttachmentView): PodMatch {
  return { namespace, pod, node: "", state: phase === "attached" ? "attached" : "waiting" };
}
