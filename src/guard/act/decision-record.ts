import type { Clock } from "../../base/clock.ts";
import { KubeError, kubeStatusOf, metadataOnly, type KubeApi } from "../../kube/client/api.ts";
import { changedAt, type Leadership } from "../decide/next-status.ts";
import { decisionApiVersion, type Decision, type DecisionStatus, type StepStatus } from "../decision/decision.ts";
import { textCharsMax } from "../decision/limits.ts";
import { parseDecision } from "../decision/parse-decision.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { timeText } from "../facts/json-values.ts";
import { DecisionGoneError } from "./halt.ts";

const requestMs = 10_000;
/** An API server that is started again is back sooner, and a Lease that cannot be renewed ends the process sooner. */
const tries = 15;
const betweenTriesMs = 1_000;

interface RecordOptions {
  /** Not the one that asks first: what was done has to be written even after somebody has said stop. */
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly leader: Leadership & { isHeld(): boolean };
  readonly signal: AbortSignal;
}

/**
 * The status of the Decision that is being carried out, and its only writer meanwhile. Every write carries the leader's
 * fence and the Decision's UID. One that the server refuses is thrown, and ends the process: we are not the leader any
 * more, or not the guard that was installed.
 */
export class DecisionRecord {
  readonly #options: RecordOptions;
  #decision: Decision;
  /** Named in the first write only: whatever was written between the look and it is not written over. */
  #resourceVersion: string | undefined;

  constructor(options: RecordOptions, decision: Decision) {
    this.#options = options;
    this.#decision = decision;
    this.#resourceVersion = decision.metadata.resourceVersion;
  }

  /** As the server has it now, or undefined when it is gone. */
  static async read(options: RecordOptions, seen: Decision): Promise<DecisionRecord | undefined> {
    try {
      const text = await options.api.call({ method: "GET", path: decisionPath(seen), deadlineMs: requestMs });
      const decision = parseDecision(JSON.parse(text));
      return decision === undefined ? undefined : new DecisionRecord(options, decision);
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

  /** Changes the status, and of its steps the one that is given. */
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
    await this.#send(status);
    this.#decision = { ...this.#decision, status };
  }

  async #send(status: DecisionStatus): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#mustLead();
      try {
        await this.#patch(status);
        return;
      } catch (thrown) {
        // A conflict is another UID, or a write between the look and the first one: not what was begun.
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

/** It may work a moment later. */
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
