import type { PluginRun, Permit } from "../../admission/permit.ts";
import type { Failure } from "../../admission/hold/retry-budget.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { isOomKill } from "../../hands/explain-outcome.ts";
import type { Ran } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
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
  #chain: Chain | undefined;
  #choosesDefault = false;
  #runs: Ran[] = [];

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
   * because the two rarely differ. `choosesDefault`: they name its default network, too.
   */
  asksFor(networks: Iterable<string>, choosesDefault = false): void {
    this.#networks = new Set(networks);
    this.#choosesDefault = choosesDefault;
  }

  begin(chain: Chain): void {
    const { network, isDefault } = chain;
    const isOfPod = isDefault ? this.#choosesDefault : this.#networks.has(network);
    this.#network = isOfPod ? network : nodeNetworks;
    this.#chain = chain;
    this.#runs = [];
    this.#permit.started(this.#network);
  }

  /** The shim tells how long the running plugin has used no CPU. */
  progress(idleMs: number, plugin: string): void {
    this.#permit.progress(idleMs, plugin);
  }

  ran(ran: Ran): void {
    this.#runs.push(ran);
  }

  /** The chain has ended. A resumed chain whose plugins had all run before is not counted again. */
  end(isOk: boolean): void {
    if (this.#runs.length > 0) this.#permit.ran(this.#run(isOk));
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
    const failure = this.#failureOf(error);
    if (failure === undefined || this.#isOutOfTime(error)) return;
    await this.#account?.look();
    this.#permit.settle(failure);
  }

  #failureOf(error: LeveeError): Failure | undefined {
    const chain = this.#chain;
    if (chain === undefined) return requestFailure(error);
    const isChosen = chain.isDefault && this.#choosesDefault;
    return pluginFailure(error, this.#network, { chain, isChosen, last: this.#runs.at(-1) });
  }

  /** A wait or another network used up the time before this network's first plugin ran. This network is not to blame. */
  #isOutOfTime({ code }: LeveeError): boolean {
    return code === "delegate-timeout" && this.#runs.length === 0;
  }

  #run(isOk: boolean): PluginRun {
    const outcomes = this.#runs.map(({ outcome }) => outcome);
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
