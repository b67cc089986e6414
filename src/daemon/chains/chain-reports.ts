import type { PluginRun, Permit } from "../../admission/permit.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { isOomKill } from "../../hands/explain-outcome.ts";
import type { Ran } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Outcome } from "../../wire/outcome.ts";
import { nodeNetworks } from "../../admission/request.ts";
import { pluginFailure, requestFailure } from "./failure-cause.ts";

/** The pod's retry budget. It looks at what the pod wants before a failure is charged. */
interface Account {
  look(): Promise<void>;
}

/** The networks of a record, as admission counts them. */
export function networksOf({ chains }: AttachmentRecord): readonly string[] {
  return [nodeNetworks, ...chains.filter(({ isDefault }) => !isDefault).map(({ network }) => network)];
}

/** Tells a permit what its chains do: admission counts by network, hands run plugin by plugin. */
export class ChainReports {
  readonly #permit: Permit;
  readonly #account: Account | undefined;
  readonly #isUndo: boolean;
  #networks: ReadonlySet<string>;
  #network = nodeNetworks;
  #hasBegun = false;
  #outcomes: Outcome[] = [];

  constructor(permit: Permit, account?: Account, { isUndo = false } = {}) {
    this.#permit = permit;
    this.#account = account;
    this.#isUndo = isUndo;
    this.#networks = new Set(permit.request.networks);
  }

  /** The same permit, for the undo of a failed ADD. */
  forUndo(): ChainReports {
    const undo = new ChainReports(this.#permit, this.#account, { isUndo: true });
    undo.#networks = this.#networks;
    return undo;
  }

  /**
   * The networks that the annotations of the call name. The pod keeps the share of slots that it was admitted with,
   * because the two rarely differ.
   */
  asksFor(networks: Iterable<string>): void {
    this.#networks = new Set(networks);
  }

  begin({ network, isDefault }: Chain): void {
    this.#network = !isDefault && this.#networks.has(network) ? network : nodeNetworks;
    this.#hasBegun = true;
    this.#outcomes = [];
    this.#permit.started(this.#network);
  }

  /** The shim tells how long the running plugin has used no CPU. */
  progress(idleMs: number, plugin: string): void {
    this.#permit.progress(idleMs, plugin);
  }

  ran({ outcome }: Ran): void {
    this.#outcomes.push(outcome);
  }

  /** The chain has ended. A resumed chain whose plugins had all run before is not counted again. */
  end(isOk: boolean): void {
    if (this.#outcomes.length > 0) this.#permit.ran(this.#run(isOk));
  }

  succeeded(): void {
    this.#permit.settle("ok");
  }

  /** Charges a failure of the work before the first plugin runs. */
  async watch<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (thrown) {
      if (thrown instanceof LeveeError) await this.failed(thrown);
      throw thrown;
    }
  }

  async failed(error: LeveeError): Promise<void> {
    const failure = this.#hasBegun ? pluginFailure(error, this.#network) : requestFailure(error);
    if (failure === undefined || this.#isOutOfTime(error)) return;
    await this.#account?.look();
    this.#permit.settle(failure);
  }

  /** A wait or another network used up the time before this network's first plugin ran. This network is not to blame. */
  #isOutOfTime({ code }: LeveeError): boolean {
    return code === "delegate-timeout" && this.#outcomes.length === 0;
  }

  #run(isOk: boolean): PluginRun {
    const outcomes = this.#outcomes;
    const last = outcomes.at(-1);
    const isTimeout = outcomes.some(({ timedOut }) => timedOut);
    return {
      network: this.#network,
      tookMs: outcomes.reduce((sum, { wallUs }) => sum + wallUs, 0) / 1_000,
      cpuMs: outcomes.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / 1_000,
      result: isTimeout ? "timeout" : isOk ? "ok" : "failed",
      peakBytes: Math.max(...outcomes.map(({ maxRssKib }) => maxRssKib)) * 1_024,
      cgroup: { limitBytes: last?.cgroupLimit, usageBytes: last?.cgroupUsage },
      isOomKilled: outcomes.some(isOomKill),
      isUndo: this.#isUndo,
    };
  }
}
