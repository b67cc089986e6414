import type { Clock } from "../../base/clock.ts";
import type { NodeViewFacts } from "../facts/world.ts";
import { getText, UnexpectedStatus, type TextGetter } from "./get-text.ts";
import { parseNodeView, type ToldView } from "./parse-node-view.ts";

/** 5,000 nodes in a minute are 83 requests a second, of one kilobyte each. */
const everyMs = 60_000;
/** Nodes with running removals: between two batches the guard must know how their daemons cope. */
const closeMs = 2_000;
/** A daemon that does not answer, or is not ours, is asked again after this time. */
const silentMs = 180_000;
/** A daemon answers from memory; a slower one is overloaded. */
const answerMs = 2_000;
/** /loadz takes one kilobyte. A daemon of an earlier release sends all its metrics: some hundred kilobytes. */
const loadBytesMax = 65_536;
const allBytesMax = 1_048_576;
/** Older answers say nothing about now. */
const keptMs = 300_000;
const tickMs = 500;
/** Requests at once, and requests per tick; each tick decides again which nodes go first. */
const lanes = 32;
const perTick = 128;
/** The list of nodes changes slowly, and building it walks over all pods. */
const wantedMs = 30_000;
const nodesMax = 5_000;

export interface NodeToAsk {
  readonly node: string;
  /** An IP address. */
  readonly address: string;
}

interface NodeViewOptions {
  readonly clock: Clock;
  /** The daemons' metrics port on their hosts; undefined: no daemon is asked. */
  readonly port: number | undefined;
  readonly wanted: () => readonly NodeToAsk[];
  /** Names of nodes that are asked every two seconds. */
  readonly close: () => ReadonlySet<string>;
  readonly getText?: TextGetter;
}

interface Asked extends NodeToAsk {
  readonly dueMs: number;
  readonly view: NodeViewFacts | undefined;
  /** When it last answered, on the monotonic clock. */
  readonly heardMs: number;
  readonly isSilent: boolean;
  /** The daemon is of an earlier release and has no /loadz. */
  readonly isOld: boolean;
}

/** The state of the nodes' daemons, asked from each on its host. Daemons that do not answer are left out and counted. */
export class NodeViewSource {
  readonly #options: NodeViewOptions;
  readonly #stop = new AbortController();
  readonly #nodes = new Map<string, Asked>();
  #wantedAtMs = Number.NEGATIVE_INFINITY;
  #loop: Promise<void> | undefined;

  constructor(options: NodeViewOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#options.port !== undefined) this.#loop ??= this.#run();
  }

  views(): readonly NodeViewFacts[] {
    const nowMs = this.#options.clock.monotonicMs();
    return [...this.#nodes.values()].flatMap(({ view, heardMs }) =>
      view === undefined || nowMs - heardMs > keptMs ? [] : [view],
    );
  }

  notes(): readonly string[] {
    const silent = [...this.#nodes.values()].filter(({ isSilent }) => isSilent).length;
    return silent === 0 ? [] : [`${silent} of ${this.#nodes.size} nodes' daemons do not answer`];
  }

  async close(): Promise<void> {
    this.#stop.abort(new Error("the guard ends"));
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#findNodes();
      await this.#askAll(this.#due());
      await clock.sleep(tickMs, signal).catch(() => undefined);
    }
  }

  #findNodes(): void {
    const { clock, wanted } = this.#options;
    const nowMs = clock.monotonicMs();
    // Look sooner while the first list of pods is still missing.
    if (nowMs - this.#wantedAtMs < (this.#nodes.size === 0 ? wantedMs / 10 : wantedMs)) return;
    this.#wantedAtMs = nowMs;
    const nodes = new Map(
      wanted()
        .slice(0, nodesMax)
        .map((one) => [one.node, one]),
    );
    for (const name of this.#nodes.keys()) if (!nodes.has(name)) this.#nodes.delete(name);
    for (const [name, one] of nodes) {
      if (this.#nodes.get(name)?.address === one.address) continue;
      // Spread the first requests over the minute.
      const dueMs = nowMs + (this.#nodes.size < perTick ? 0 : clock.random() * everyMs);
      this.#nodes.set(name, { ...one, dueMs, view: undefined, heardMs: 0, isSilent: false, isOld: false });
    }
  }

  /** The nodes to ask now, those with running removals first. */
  #due(): readonly Asked[] {
    const nowMs = this.#options.clock.monotonicMs();
    const close = this.#options.close();
    const isClose = ({ node, heardMs, isSilent }: Asked): boolean =>
      !isSilent && close.has(node) && nowMs - heardMs >= closeMs;
    const all = [...this.#nodes.values()];
    const first = all.filter(isClose);
    const rest = all.filter((one) => !isClose(one) && one.dueMs <= nowMs);
    return [...first, ...rest.toSorted((left, right) => left.dueMs - right.dueMs)].slice(0, perTick);
  }

  async #askAll(due: readonly Asked[]): Promise<void> {
    const queue = [...due];
    const lane = async (): Promise<void> => {
      for (let one = queue.shift(); one !== undefined && !this.#stop.signal.aborted; one = queue.shift())
        await this.#ask(one);
    };
    await Promise.all(Array.from({ length: Math.min(lanes, due.length) }, lane));
  }

  async #ask(one: Asked): Promise<void> {
    const { clock } = this.#options;
    const { told, isOld } = await this.#told(one);
    // The node may be gone by now or have another address.
    if (this.#nodes.get(one.node)?.address !== one.address) return;
    const nowMs = clock.monotonicMs();
    this.#nodes.set(one.node, {
      ...one,
      isOld,
      isSilent: told === undefined,
      dueMs: nowMs + (told === undefined ? silentMs : everyMs),
      ...(told === undefined
        ? {}
        : { heardMs: nowMs, view: { node: one.node, atMs: Math.round(clock.wallMs()), ...told } }),
    });
  }

  async #told(one: Asked): Promise<{ readonly told: ToldView | undefined; readonly isOld: boolean }> {
    try {
      return { told: parseNodeView(await this.#text(one)), isOld: one.isOld };
    } catch (thrown) {
      const isOld = thrown instanceof UnexpectedStatus && thrown.status === 404 && !one.isOld;
      return isOld ? this.#told({ ...one, isOld }) : { told: undefined, isOld: false };
    }
  }

  #text({ address, isOld }: Asked): Promise<string> {
    const { clock, port, getText: get = getText } = this.#options;
    const host = address.includes(":") ? `[${address}]` : address;
    const what = isOld ? { path: "/metrics", bytesMax: allBytesMax } : { path: "/loadz", bytesMax: loadBytesMax };
    const request = { server: `http://${host}:${port}`, ...what, deadlineMs: answerMs };
    return get(clock, request, this.#stop.signal);
  }
}
