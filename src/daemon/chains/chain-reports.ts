import type { PluginRun, Permit } from "../../admission/permit.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { isOomKill } from "../../hands/explain-outcome.ts";
import type { Ran } from "../../hands/run-chain.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Outcome } from "../../wire/outcome.ts";
import { nodeNetworks } from "../../admission/request.ts";
import { pluginFailure, requestFailure } from "./failure-cause.ts";

/** The pod's side of a failure: it looks at what the pod wants before the failure is charged. */
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

  /** The same permit, for taking away what failed. */
  forUndo(): ChainReports {
    const undo = new ChainReports(this.#permit, this.#account, { isUndo: true });
    undo.#networks = this.#networks;
    return undo;
  }

  /**
   * The networks the pod turned out to ask for, once its annotations came with the call. Its share of the slots is that
   * of the networks it was admitted for: that they differ is rare.
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

  /** The shim says how long the plugin that runs has used no CPU. */
  progress(idleMs: number, plugin: string): void {
    this.#permit.progress(idleMs, plugin);
  }

  ran({ outcome }: Ran): void {
    this.#outcomes.push(outcome);
  }

  /** The chain has ended, well or not. One whose plugins had all run before says nothing. */
  end(isOk: boolean): void {
    if (this.#outcomes.length > 0) this.#permit.ran(this.#run(isOk));
  }

  succeeded(): void {
    this.#permit.settle("ok");
  }

  /** Charges a failure of what has to be done before the first plugin runs. */
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

  /** The time was used up before the network's first plugin ran, by a wait or another network: this one did nothing. */
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
