import type { DelegateRun, Permit } from "../admission/permit.ts";
import type { FailureCause } from "../admission/retry-budget.ts";
import { LeveeError, type ErrorCode } from "../base/errors.ts";
import type { Chain } from "../cni/chain.ts";
import type { Ran } from "../hands/run-chain.ts";
import type { Outcome } from "../wire/outcome.ts";
import { nodeNetworks } from "./admission-request.ts";

const sigkill = 9;

/** Who pays for a failure; what is not here is nobody's fault, or the node's. */
const causes: Partial<Record<ErrorCode, FailureCause>> = {
  "annotation-invalid": "own",
  "config-invalid": "own",
  "field-unsupported": "own",
  "interface-taken": "own",
  "isolation-violated": "own",
  "network-unknown": "own",
  "delegate-failed": "network",
  "delegate-missing": "network",
  "delegate-oom": "network",
  "delegate-timeout": "network",
  "routes-failed": "network",
};

/** Tells a permit what its chains do: admission counts by network, hands run plugin by plugin. */
export class ChainReports {
  readonly #permit: Permit;
  #network = nodeNetworks;
  #outcomes: Outcome[] = [];

  constructor(permit: Permit) {
    this.#permit = permit;
  }

  begin({ network, isDefault }: Chain): void {
    const isKnown = !isDefault && this.#permit.request.networks.includes(network);
    this.#network = isKnown ? network : nodeNetworks;
    this.#outcomes = [];
    this.#permit.started(this.#network);
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
      if (thrown instanceof LeveeError) this.failed(thrown);
      throw thrown;
    }
  }

  failed(error: LeveeError): void {
    const cause = causes[error.code];
    if (cause === undefined) return;
    const network = cause === "network" ? { network: this.#network } : {};
    this.#permit.settle({ cause, ...network, reason: error.message });
  }

  #run(isOk: boolean): DelegateRun {
    const outcomes = this.#outcomes;
    const last = outcomes.at(-1);
    const isTimeout = outcomes.some(({ timedOut }) => timedOut);
    return {
      network: this.#network,
      tookMs: outcomes.reduce((sum, { wallUs }) => sum + wallUs, 0) / 1_000,
      result: isTimeout ? "timeout" : isOk ? "ok" : "failed",
      peakBytes: Math.max(...outcomes.map(({ maxRssKib }) => maxRssKib)) * 1_024,
      cgroup: { limitBytes: last?.cgroupLimit, usageBytes: last?.cgroupUsage },
      isOomKilled: outcomes.some(({ signal, oomCgroup, oomNode }) => signal === sigkill && oomCgroup + oomNode > 0),
    };
  }
}
