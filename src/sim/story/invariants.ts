import { journalPath } from "../../state/journal/journal-open.ts";
import type { SimApi } from "../api/sim-api.ts";
import { ApiPace } from "./api-pace.ts";
import { CriticalLine } from "./critical-line.ts";
import { memoryProblem } from "./memory-bound.ts";
import { untoldStatus } from "./status-told.ts";
import type { SimEvent } from "../node/sim-event.ts";
import type { SimNode } from "../node/sim-node.ts";
import type { NodeDaemon } from "../node/sim-daemon.ts";
import type { SimRuntime, SimSandbox } from "../node/sim-runtime.ts";
import { defaultNetwork } from "./story.ts";

/** The parts of a node that the rules look at. */
export interface WatchedNode {
  readonly node: SimNode;
  readonly runtime: SimRuntime;
  readonly daemon: NodeDaemon;
}

/** A rule that did not hold, and what was seen. */
export interface Broken {
  readonly rule: string;
  readonly text: string;
}

/** No call may take longer: the runtime would kill it. */
const addMsMax = 115_000;
const delMsMax = 55_000;

/** Forty pods are attached within two seconds. */
const promptMs = 8_000;
/** Lists and watches of one node within a window: two resources, each with a back-off that starts at half a second. */
const requestsMax = 40;
const requestsWindowMs = 10_000;

interface RuleOptions {
  /** Where pods are told what they have; without it nobody looks. */
  readonly api?: SimApi;
  /** Whether CPU costs time, and memory may be short: then no pod is promised to be prompt. */
  readonly hasHardware?: boolean;
  /** Whether the power failed after the disk had lied: what the daemon wrote down may be lost. */
  readonly hasForgotten?: boolean;
}

/** What must hold at every moment, and at the end of a story. */
export class Invariants {
  readonly broken: Broken[] = [];
  readonly #nodes: ReadonlyMap<string, WatchedNode>;

  /** When each of the last lists and watches was asked for. */
  readonly #requestsMs: number[] = [];
  readonly #line: CriticalLine;
  readonly #boundMs = new Map<string, number>();
  readonly #pace = new ApiPace();
  readonly #options: RuleOptions;
  #isHindered: boolean;
  #hasLied = false;
  #hasForgotten = false;

  constructor(nodes: ReadonlyMap<string, WatchedNode>, options: RuleOptions = {}) {
    this.#nodes = nodes;
    this.#options = options;
    this.#isHindered = options.hasHardware === true;
    this.#line = new CriticalLine((node, id) => {
      const pod = nodes.get(node)?.runtime.sandboxes.get(id)?.pod;
      return pod?.isCritical === true ? [defaultNetwork, ...pod.networks] : undefined;
    });
  }

  /** Called with everything that happens. */
  see(nowMs: number, event: SimEvent): void {
    if (event.kind === "effect") this.#seeEffect(event);
    if (event.kind === "answer") this.#seeAnswer(event);
    if (event.kind === "api") this.#seeRequest(nowMs);
    if (event.kind === "fault") this.#seeFault(event.what);
    if (event.kind === "pod") this.#seePod(nowMs, event);
    const daemon = "node" in event ? this.#nodes.get(event.node)?.daemon : undefined;
    this.#breakIf("not-overtaken", this.#line.see(event));
    this.#breakIf("api-load", this.#pace.see(nowMs, event));
    this.#breakIf("memory-bound", memoryProblem(event, daemon));
  }

  /** Whether the power failed after the disk had lied. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** Called when all is calm again and had time to settle. */
  lookAtEnd(): void {
    for (const watched of this.#nodes.values()) {
      this.#everyPodSettled(watched);
      this.#nothingLeft(watched);
      this.#journalAgrees(watched);
      this.#statusesTold(watched);
    }
  }

  #seeFault(what: string): void {
    this.#isHindered = true;
    this.#hasLied ||= what.includes('"disk-lies"');
    this.#hasForgotten ||= this.#hasLied && what.includes('"cut-power"');
  }

  #seeEffect(event: Extract<SimEvent, { kind: "effect" }>): void {
    const watched = this.#nodes.get(event.node);
    if (watched === undefined) return;
    if (event.verb === "DEL") return this.#nobodyRobbed(watched, event);
    this.#intentSynced(watched, event);
    this.#oneHolder(watched, event);
  }

  /** A plugin acted: the journal on the disk must name the container, or a power cut would leave the address for ever. */
  #intentSynced({ node }: WatchedNode, { containerId, network }: { containerId: string; network: string }): void {
    // Whoever believes a disk that lies cannot know.
    if (this.#hasLied) return;
    const durable = node.files.durableAt(journalPath(node.stateDir));
    if (durable !== undefined && hasLately(durable, `"${containerId}"`)) return;
    this.#break(
      "intent-synced",
      `${network} attached ${containerId} before its intent was on the disk of ${node.name}`,
    );
  }

  #oneHolder({ node }: WatchedNode, { network, address }: { network: string; address: string }): void {
    const holders = node.kernel.holdersOf(`${network}/${address}`);
    if (holders > 1) this.#break("one-holder", `${holders} interfaces of ${node.name} have ${address} of ${network}`);
  }

  #nobodyRobbed({ runtime }: WatchedNode, { containerId, network }: { containerId: string; network: string }): void {
    if (runtime.sandboxes.get(containerId)?.state !== "told") return;
    this.#break("live-pod", `${network} was taken from ${containerId}, which runs and was not deleted`);
  }

  #seeAnswer({ verb, containerId, tookMs }: Extract<SimEvent, { kind: "answer" }>): void {
    const limitMs = verb === "ADD" ? addMsMax : delMsMax;
    if (tookMs > limitMs) this.#break("call-ends", `${verb} of ${containerId} took ${Math.round(tookMs)} ms`);
  }

  /** Where nothing went wrong, no pod waits for long. */
  #seePod(nowMs: number, { pod, what }: Extract<SimEvent, { kind: "pod" }>): void {
    if (what === "bound") this.#boundMs.set(pod, nowMs);
    const tookMs = nowMs - (this.#boundMs.get(pod) ?? nowMs);
    if (what === "running" && !this.#isHindered && tookMs > promptMs)
      this.#break("prompt", `${pod} was attached after ${Math.round(tookMs)} ms, although nothing went wrong`);
    if (what === "failed" && !this.#isHindered) this.#break("prompt", `${pod} failed, although nothing went wrong`);
  }

  /** A server in trouble must not be asked more often. */
  #seeRequest(nowMs: number): void {
    this.#requestsMs.push(nowMs);
    const firstMs = this.#requestsMs.length > requestsMax ? this.#requestsMs.shift() : undefined;
    if (firstMs !== undefined && nowMs - firstMs < requestsWindowMs)
      this.#break("api-load", `${requestsMax} lists and watches within ${Math.round(nowMs - firstMs)} ms`);
  }

  #everyPodSettled({ node, runtime, daemon }: WatchedNode): void {
    if (daemon.running === undefined) this.#break("daemon-runs", `the daemon of ${node.name} does not run at the end`);
    const { unfinished } = runtime;
    if (unfinished.length > 0)
      this.#break(
        "pods-settle",
        `${unfinished.length} pods are neither attached nor gone: ${unfinished.slice(0, 3).join(", ")}`,
      );
  }

  /** Addresses and interfaces belong to running sandboxes, one each, and every running sandbox has its own. */
  #nothingLeft({ node, runtime }: WatchedNode): void {
    const { kernel } = node;
    const held = new Set<string>();
    for (const [network, leases] of kernel.leases) {
      for (const [address, { containerId, ifname }] of leases) {
        held.add(`${containerId} ${network}`);
        if (runtime.sandboxes.get(containerId)?.state !== "told" && this.#options.hasForgotten !== true)
          this.#break("nothing-left", `${network} holds ${address} for ${ifname} of ${containerId}, which is gone`);
      }
    }
    for (const sandbox of runtime.sandboxes.values())
      if (sandbox.state === "told") this.#allAttached(node, sandbox, held);
  }

  #allAttached({ kernel }: SimNode, { id, pod, netns }: SimSandbox, held: ReadonlySet<string>): void {
    for (const network of [defaultNetwork, ...pod.networks])
      if (!held.has(`${id} ${network}`)) this.#break("all-attached", `${id} runs without ${network}`);
    const links = kernel.netns.get(netns)?.links.size ?? 0;
    if (links !== pod.networks.length + 1)
      this.#break("all-attached", `${id} has ${links} interfaces instead of ${pod.networks.length + 1}`);
  }

  #journalAgrees({ runtime, daemon }: WatchedNode): void {
    const journal = daemon.running?.ground.journal;
    if (journal === undefined) return;
    const told = new Set([...runtime.sandboxes.values()].filter(({ state }) => state === "told").map(({ id }) => id));
    for (const { containerId, phase } of journal.all()) {
      if (!told.delete(containerId))
        this.#break("journal-agrees", `the journal keeps ${containerId} (${phase}), which is gone`);
      else if (phase !== "acknowledged")
        this.#break("journal-agrees", `${containerId} runs, and its record is only ${phase}`);
    }
    for (const id of told) this.#break("journal-agrees", `${id} runs, and the journal does not know it`);
  }

  #statusesTold({ node, runtime }: WatchedNode): void {
    const { api } = this.#options;
    if (api === undefined) return;
    for (const sandbox of runtime.sandboxes.values()) {
      const untold = sandbox.state === "told" ? untoldStatus(api, node.kernel, sandbox) : undefined;
      this.#breakIf("status-told", untold);
    }
  }

  #breakIf(rule: string, problem: string | undefined): void {
    if (problem !== undefined) this.#break(rule, problem);
  }

  #break(rule: string, text: string): void {
    this.broken.push({ rule, text });
  }
}

/** The end of a journal is searched first: an intent is among its last lines, and a journal is long. */
const endsBytes = [4_096, 16_384, 65_536];

function hasLately(bytes: Buffer, text: string): boolean {
  return endsBytes.some((endBytes) => bytes.subarray(-endBytes).includes(text)) || bytes.includes(text);
}
