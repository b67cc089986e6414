import type { Clock } from "../../base/clock.ts";
import { KubeError, kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import { changedAt, type Leadership } from "../decide/next-status.ts";
import { withAudit } from "../decision/status-audit.ts";
import { decisionApiVersion, type Decision, type DecisionStatus, type StepStatus } from "../decision/decision.ts";
import { textCharsMax } from "../decision/limits.ts";
import { parseDecision } from "../decision/parse-decision.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { timeText } from "../json-values.ts";
import { DecisionGoneError } from "./halt.ts";

const requestMs = 10_000;
/** A restarting API server is back sooner, and a Lease that cannot be renewed ends the process sooner. */
const tries = 15;
const betweenTriesMs = 1_000;

interface RunningOptions {
  /** The API without the write gate: results must be written even after a person has said stop. */
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly leader: Leadership & { isHeld(): boolean };
  readonly signal: AbortSignal;
}

/**
 * The Decision that is being carried out, and the only writer of its status. Every write carries the leader's fence and
 * the Decision's UID. A refused write is thrown and ends the process: this guard no longer leads or is not the installed
 * one.
 */
export class RunningDecision {
  readonly #options: RunningOptions;
  #decision: Decision;
  /** Sent with the first write only, so that it does not overwrite a change made since the read. */
  #resourceVersion: string | undefined;

  constructor(options: RunningOptions, decision: Decision) {
    this.#options = options;
    this.#decision = decision;
    this.#resourceVersion = decision.metadata.resourceVersion;
  }

  /** Reads it from the API server; undefined when it is gone. */
  static async read(options: RunningOptions, seen: Decision): Promise<RunningDecision | undefined> {
    try {
      const text = await options.api.call({ method: "GET", path: decisionPath(seen), deadlineMs: requestMs });
      const decision = parseDecision(JSON.parse(text));
      return decision === undefined ? undefined : new RunningDecision(options, decision);
    } catch (thrown) {
      if (kubeStatusOf(thrown) === 404) return undefined;
      throw thrown;
    }
  }

  get decision(): Decision {
    return this.#decision;
  }

  stepStatus(id: number): StepStatus | undefined {
    return this.#decision.status?.steps?.find((step) => step.id === id);
  }

  /** Changes the status, and the status of one step if given. */
  async write(change: Partial<DecisionStatus>, step?: Pick<StepStatus, "id"> & Partial<StepStatus>): Promise<void> {
    const { clock, leader } = this.#options;
    const nowMs = clock.wallMs();
    const at = timeText(nowMs);
    const before = this.#decision.status ?? { phase: "Proposed", message: "", since: at };
    const { message, phase } = { ...before, ...change };
    const status: DecisionStatus = {
      ...before,
      ...change,
      message: foreignText(message, textCharsMax),
      since: phase === before.phase ? before.since : changedAt(nowMs, before.since),
      fence: leader.fence,
      leader: leader.identity,
      ...(step === undefined ? {} : { steps: withStep(this.#decision.status?.steps ?? [], { at, ...step }) }),
    };
    const told = withAudit(this.#decision.status, status, at);
    await this.#send(told);
    this.#decision = { ...this.#decision, status: told };
  }

  async #send(status: DecisionStatus): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#mustLead();
      try {
        await this.#patch(status);
        return;
      } catch (thrown) {
        // A conflict means another UID, or a change since the read: not the Decision that was started.
        if ([404, 409].includes(kubeStatusOf(thrown) ?? 0)) throw new DecisionGoneError(this.#decision.metadata.name);
        if (!isPassing(thrown) || attempt === tries) throw thrown;
        await this.#options.clock.sleep(betweenTriesMs, this.#options.signal);
      }
    }
  }

  async #patch(status: DecisionStatus): Promise<void> {
    const { api, signal } = this.#options;
    const { uid } = this.#decision.metadata;
    const resourceVersion = this.#resourceVersion;
    await api.call({
      method: "PATCH",
      path: `${decisionPath(this.#decision)}/status`,
      body: JSON.stringify({
        metadata: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
        status,
      }),
      contentType: "application/merge-patch+json",
      accept: metadataOnly,
      deadlineMs: requestMs,
      signal,
    });
    this.#resourceVersion = undefined;
  }

  #mustLead(): void {
    const { leader, signal } = this.#options;
    const isHeld = leader.isHeld();
    signal.throwIfAborted();
    if (!isHeld) throw new KubeError("api-refused", "Cannot write a Decision's status: this guard does not lead");
  }
}

/** The same request may work a moment later. */
export function isPassing(thrown: unknown): boolean {
  if (!(thrown instanceof KubeError)) return false;
  return thrown.code === "api-unreachable" || thrown.status === 429 || (thrown.status ?? 0) >= 500;
}

export function decisionPath({ metadata }: Decision): string {
  const namespace = encodeURIComponent(metadata.namespace);
  return `/apis/${decisionApiVersion}/namespaces/${namespace}/decisions/${encodeURIComponent(metadata.name)}`;
}

function withStep(
  steps: readonly StepStatus[],
  change: Pick<StepStatus, "id" | "at"> & Partial<StepStatus>,
): readonly StepStatus[] {
  const before = steps.find(({ id }) => id === change.id);
  const message = foreignText(change.message ?? before?.message ?? "", textCharsMax);
  const after: StepStatus = { phase: "Waiting", ...before, ...change, message };
  return [...steps.filter(({ id }) => id !== change.id), after].toSorted((left, right) => left.id - right.id);
}
