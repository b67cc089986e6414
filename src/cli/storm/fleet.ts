import type { Clock } from "../../base/clock.ts";
import type { PodKey } from "../node/names.ts";
import type { Caller, CallResult, StormSandbox } from "./caller/caller.ts";

export interface FleetPod extends PodKey {
  readonly uid: string;
}

/** A pod's current phase. */
type PodPhase = "waiting" | "backing-off" | "attached" | "deleting" | "deleted";

/** One pod's progress. Times are milliseconds since the fleet's start. */
export interface PodProgress {
  readonly pod: FleetPod;
  phase: PodPhase;
  readonly arrivedMs: number;
  attachedMs: number | undefined;
  deletedMs: number | undefined;
  /** ADDs made. */
  attempts: number;
  readonly errors: { readonly atMs: number; readonly message: string }[];
  readonly delErrors: { readonly atMs: number; readonly message: string }[];
}

interface FleetOptions {
  readonly clock: Clock;
  readonly caller: Caller;
  /** The pods' network namespaces. Each new sandbox of a pod gets a new one. */
  readonly netns: { path(name: string): string; renew(name: string): Promise<void> };
  /** Decides the waits between attempts. */
  readonly seed: number;
  /** kubelet's wait before it retries a failed pod; uniform between the two. */
  readonly retryMs?: readonly [number, number];
  /** Hexadecimal prefix of all container IDs, so that we recognize them. */
  readonly containerIdPrefix?: string;
}

/** kubelet's backOffPeriod of 10 s with its jitter of one half. */
const kubeletRetryMs = [10_000, 15_000] as const;

const startsAtOnce = 8;

/**
 * Drives pods as kubelet and containerd do: ADD; if it fails, DEL of that sandbox, a wait, and a new sandbox. One call per
 * pod at a time, and any number of pods at once.
 */
export class Fleet {
  readonly records: PodProgress[] = [];
  readonly #options: FleetOptions;
  readonly #random: () => number;
  readonly #startMs: number;
  readonly #sandboxes = new Map<PodProgress, StormSandbox>();

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#startMs = options.clock.monotonicMs();
  }

  /** Milliseconds since the start. */
  nowMs(): number {
    return this.#options.clock.monotonicMs() - this.#startMs;
  }

  /** Sandboxes that are not deleted yet. */
  get openSandboxes(): number {
    return this.#sandboxes.size;
  }

  count(phase: PodPhase): number {
    return this.records.filter((record) => record.phase === phase).length;
  }

  /** Adds these pods all at once. Resolves when each is attached, or when `signal` ends the attempts. */
  async arrive(pods: readonly FleetPod[], signal: AbortSignal): Promise<void> {
    const records = pods.map((pod) => newRecord(pod, this.nowMs()));
    this.records.push(...records);
    await this.#each(records, (record) => this.#bringUp(record, signal));
  }

  /** Deletes every pod that has a sandbox, all at once. Retries as kubelet does until `signal` ends it. */
  async deleteAll(signal: AbortSignal): Promise<void> {
    const open = this.records.filter((record) => this.#sandboxes.has(record));
    await this.#each(open, (record) => this.#takeDown(record, signal));
  }

  /** Starts all at once. Starting a program takes a millisecond or two, so other tasks get a turn in between. */
  async #each(records: readonly PodProgress[], work: (record: PodProgress) => Promise<void>): Promise<void> {
    const underWay: Promise<void>[] = [];
    for (const [at, record] of records.entries()) {
      if (at > 0 && at % startsAtOnce === 0) await this.#options.clock.sleep(0);
      underWay.push(work(record));
    }
    await Promise.all(underWay);
  }

  async #takeDown(record: PodProgress, signal: AbortSignal): Promise<void> {
    record.phase = "deleting";
    if (!(await this.#tearDown(record, signal))) return;
    record.phase = "deleted";
    record.deletedMs = this.nowMs();
  }

  async #bringUp(record: PodProgress, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      record.phase = "waiting";
      record.attempts += 1;
      const sandbox = this.#newSandbox(record);
      const end = await this.#options.caller.call("ADD", sandbox);
      if (end.isOk) {
        record.phase = "attached";
        record.attachedMs = this.nowMs();
        return;
      }
      // After the time is over, we ended the call ourselves.
      if (!signal.aborted) record.errors.push(this.#errorOf(end));
      record.phase = "backing-off";
      if (!(await this.#tearDown(record, signal)) || !(await this.#rest(signal))) return;
      await this.#options.netns.renew(netnsNameOf(record.pod));
    }
  }

  /** Whether the sandbox is gone. */
  async #tearDown(record: PodProgress, signal: AbortSignal): Promise<boolean> {
    const sandbox = this.#sandboxes.get(record);
    if (sandbox === undefined) return true;
    for (;;) {
      const end = await this.#options.caller.call("DEL", sandbox);
      if (end.isOk) {
        this.#sandboxes.delete(record);
        return true;
      }
      record.delErrors.push(this.#errorOf(end));
      if (!(await this.#rest(signal))) return false;
    }
  }

  #newSandbox(record: PodProgress): StormSandbox {
    const { clock, netns, containerIdPrefix = "" } = this.#options;
    const sandbox: StormSandbox = {
      ...record.pod,
      containerId: `${containerIdPrefix}${Buffer.from(clock.randomBytes(32)).toString("hex")}`.slice(0, 64),
      netnsPath: netns.path(netnsNameOf(record.pod)),
    };
    this.#sandboxes.set(record, sandbox);
    return sandbox;
  }

  /** Resolves to false when the time is over. */
  async #rest(signal: AbortSignal): Promise<boolean> {
    const [leastMs, mostMs] = this.#options.retryMs ?? kubeletRetryMs;
    const waitMs = leastMs + this.#random() * (mostMs - leastMs);
    return this.#options.clock.sleep(waitMs, signal).then(
      () => true,
      () => false,
    );
  }

  #errorOf({ code, message }: CallResult): { readonly atMs: number; readonly message: string } {
    return { atMs: this.nowMs(), message: code === undefined ? message : `${message} (CNI code ${code})` };
  }
}

/** Name of a pod's network namespace, after the batch's prefix. */
export function netnsNameOf(pod: PodKey): string {
  return `${pod.namespace}.${pod.name}`;
}

function newRecord(pod: FleetPod, arrivedMs: number): PodProgress {
  return {
    pod,
    phase: "waiting",
    arrivedMs,
    attachedMs: undefined,
    deletedMs: undefined,
    attempts: 0,
    errors: [],
    delErrors: [],
  };
}

/** A small generator (xorshift): the same seed gives the same numbers in [0, 1). */
function seededRandom(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
