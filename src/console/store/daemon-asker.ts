import type { Clock } from "../../base/clock.ts";
import { metricsOf } from "../../wire/metric-lines.ts";
import type { ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";
import type { HoldsAnswer, LeaseCountView } from "../../wire/node-holds.ts";
import { daemonFacts, type DaemonFacts } from "../facts/daemon-facts.ts";

/** The paths of a daemon's metrics port. */
export type NodePath = "/loadz" | "/metrics" | "/nodez" | `/podz/${string}`;

interface AskerOptions {
  readonly clock: Clock;
  /** Rejects when the daemon does not answer, or the viewer may not ask. */
  readonly ask: (node: string, path: NodePath, signal: AbortSignal) => Promise<string>;
  readonly nodes: () => readonly string[];
  /** Nodes on which something happens: they are asked every two seconds. */
  readonly close: () => readonly string[];
  readonly onHeard: () => void;
}

/** What a daemon said last. */
export interface DaemonSaid {
  readonly facts?: DaemonFacts;
  readonly deep?: DeepSaid;
  /** Why the last question had no answer; empty when it had. */
  readonly silence: string;
}

/** `/nodez`. Daemons of earlier releases have neither holds nor leases. */
interface DeepSaid {
  readonly node: NodeAnswer;
  readonly checks: ChecksAnswer;
  readonly holds?: HoldsAnswer;
  readonly leases?: readonly LeaseCountView[];
}

interface Asked extends DaemonSaid {
  readonly dueMs: number;
  readonly deepDueMs: number;
}

const tickMs = 500;
/** The API server opens one connection for each, and passes on a kilobyte. */
const lanes = 8;
/** With the tick this makes 24 requests a second at most: 5,000 idle nodes are seen in four minutes. */
const perTick = 12;
/** Nodes where pods wait, so many at once; the others are seen in their turn. */
const closeMax = 8;
const closeMs = 2_000;
const idleMs = 10_000;
const silentMs = 30_000;
/** Plugins and networks are some hundred kilobytes, and change slowly. */
const deepCloseMs = 15_000;
const deepIdleMs = 120_000;

/** The nodes' daemons as the viewer may see them, asked through the API server: few at a time, busy nodes more often. */
export class DaemonAsker {
  readonly #options: AskerOptions;
  readonly #stop = new AbortController();
  readonly #said = new Map<string, Asked>();
  #loop: Promise<void> | undefined;
  #heardMs = 0;

  constructor(options: AskerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  of(node: string): DaemonSaid | undefined {
    return this.#said.get(node);
  }

  all(): ReadonlyMap<string, DaemonSaid> {
    return this.#said;
  }

  /** When any daemon answered last. */
  get heardMs(): number {
    return this.#heardMs;
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the console ends"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#askAll(this.#due());
      await clock.sleep(tickMs, signal).catch(() => undefined);
    }
  }

  /** Busy nodes first, then those that were asked longest ago. */
  #due(): readonly string[] {
    const nowMs = this.#options.clock.monotonicMs();
    const nodes = this.#options.nodes();
    const known = new Set(nodes);
    for (const node of this.#said.keys()) if (!known.has(node)) this.#said.delete(node);
    const dueMs = (node: string): number => this.#said.get(node)?.dueMs ?? 0;
    const rest = nodes.filter((node) => dueMs(node) <= nowMs).toSorted((left, right) => dueMs(left) - dueMs(right));
    const close = this.#close().filter((node) => known.has(node) && dueMs(node) - (idleMs - closeMs) <= nowMs);
    return [...new Set([...close, ...rest])].slice(0, perTick);
  }

  #close(): readonly string[] {
    const busy = [...this.#said].flatMap(([node, { facts }]) =>
      (facts?.adds ?? 0) + (facts?.dels ?? 0) > 0 ? [node] : [],
    );
    return [...new Set([...this.#options.close(), ...busy])].slice(0, closeMax);
  }

  async #askAll(due: readonly string[]): Promise<void> {
    const queue = [...due];
    const close = new Set(this.#close());
    const lane = async (): Promise<void> => {
      for (let node = queue.shift(); node !== undefined && !this.#stop.signal.aborted; node = queue.shift())
        await this.#ask(node, close.has(node));
    };
    await Promise.all(Array.from({ length: Math.min(lanes, due.length) }, lane));
  }

  async #ask(node: string, isClose: boolean): Promise<void> {
    const { clock, onHeard } = this.#options;
    const before = this.#said.get(node);
    const nowMs = clock.monotonicMs();
    const isDeep = (before?.deepDueMs ?? 0) - (isClose ? deepIdleMs - deepCloseMs : 0) <= nowMs;
    try {
      const said = await this.#look(node, isDeep);
      this.#heardMs = clock.wallMs();
      const deepDueMs = isDeep ? nowMs + deepIdleMs : (before?.deepDueMs ?? 0);
      this.#said.set(node, { ...before, ...said, silence: "", dueMs: nowMs + idleMs, deepDueMs });
    } catch (thrown) {
      const silence = thrown instanceof Error ? thrown.message : String(thrown);
      this.#said.set(node, { deepDueMs: 0, ...before, silence, dueMs: nowMs + silentMs });
    }
    onHeard();
  }

  async #look(node: string, isDeep: boolean): Promise<Pick<DaemonSaid, "facts" | "deep">> {
    const { ask, clock } = this.#options;
    const { signal } = this.#stop;
    const text = await ask(node, isDeep ? "/metrics" : "/loadz", signal);
    const facts = daemonFacts(metricsOf(text), clock.wallMs());
    if (facts === undefined) throw new Error("the program on that port is not Levee's daemon");
    // What only the deep look told stays until the next one.
    const kept = this.#said.get(node)?.facts?.plugins;
    const whole = facts.plugins === undefined && kept !== undefined ? { ...facts, plugins: kept } : facts;
    return isDeep ? { facts: whole, ...deepOf(await ask(node, "/nodez", signal)) } : { facts: whole };
  }
}

/** A daemon of an earlier release may say less; then nothing of it is kept. */
function deepOf(text: string): Pick<DaemonSaid, "deep"> {
  const said = JSON.parse(text) as Partial<DeepSaid> | null; // looked at below
  if (said?.node === undefined || !Array.isArray(said.checks?.networks)) return {};
  const { node, checks, holds, leases } = said;
  return {
    deep: {
      ...{ node, checks },
      ...(Array.isArray(holds?.pods) && Array.isArray(holds.networks) && Array.isArray(holds.hung) ? { holds } : {}),
      ...(Array.isArray(leases) ? { leases } : {}),
    },
  };
}
