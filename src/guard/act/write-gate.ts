import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { kubeStatusOf, metadataOnly, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { nextStatus, type Leadership } from "../decide/next-status.ts";
import type { Decision } from "../decision/decision.ts";
import { decisionPath, isPassing } from "./running-decision.ts";
import { DecisionGoneError, HaltError } from "./halt.ts";
import { liveApprovals } from "./live-approvals.ts";
import { LivePolicies } from "./live-policies.ts";

interface GateOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly leader: Leadership & { isHeld(): boolean };
  readonly signal: AbortSignal;
  /** With the status as last written. */
  readonly decision: () => Decision;
}

const requestMs = 10_000;
/** Longer than a Lease that cannot be renewed: either a restarting API server is back, or the term is lost. */
const tries = 15;
const betweenTriesMs = 1_000;

/**
 * Stands between the step runners and the API server. Before each write, including dry runs, it reads from the API server
 * the Decision, its approvals and the policies behind them: a watch may be behind, and a stop must be heard before the
 * next request.
 */
export class WriteGate implements KubeApi {
  readonly #options: GateOptions;
  readonly #policies: LivePolicies;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#policies = new LivePolicies(options);
  }

  /** Throws a `HaltError` when a person has said stop or the approval no longer counts, or the reason when we do not lead. */
  async ask(): Promise<void> {
    const { clock, leader, decision } = this.#options;
    this.#mustLead();
    await this.#patiently(() => this.#mustBeThere());
    const { api, signal } = this.#options;
    const approvals = await this.#patiently(() => liveApprovals(api, decision().metadata.namespace, signal));
    const policies = await this.#patiently(() => this.#policies.after(approvals));
    const status = nextStatus({
      decision: decision(),
      approvals,
      policies,
      // A started Decision does not end with its cause: each step checks that itself.
      isCausePresent: true,
      nowMs: clock.wallMs(),
      leader: { identity: leader.identity, fence: leader.fence },
    });
    if (status !== undefined && status.phase !== decision().status?.phase) throw new HaltError(status);
    this.#mustLead();
  }

  /**
   * The same for writes outside of the API server: revoking the guard's right to act must stop every change, and a git server
   * does not know about it.
   */
  async askElsewhere(): Promise<void> {
    await this.ask();
    if (await this.#patiently(() => this.#mayAct())) return;
    throw new LeveeError(
      "not-ready",
      "Cannot write: the guard has no right to act: the ClusterRoleBinding levee-guard-acts is missing",
    );
  }

  async call(request: KubeRequest): Promise<string> {
    const { api, signal } = this.#options;
    const send = async (): Promise<string> => {
      if (request.method !== "GET") await this.ask();
      return api.call({ signal, ...request });
    };
    return isRepeatable(request) ? this.#patiently(send) : send();
  }

  lines(): never {
    throw new LeveeError("internal", "Cannot watch through the write gate: steps use the given world");
  }

  /** Deleting a Decision means that it must end, even if its approvals stay. */
  async #mustBeThere(): Promise<void> {
    const { api, signal } = this.#options;
    const decision = this.#options.decision();
    const { name, uid } = decision.metadata;
    const request = {
      method: "GET",
      path: decisionPath(decision),
      accept: metadataOnly,
      deadlineMs: requestMs,
    } as const;
    const text = await api.call({ ...request, signal }).catch((thrown: unknown) => {
      throw kubeStatusOf(thrown) === 404 ? new DecisionGoneError(name) : thrown;
    });
    const object: unknown = JSON.parse(text);
    const metadata = objectOf(objectOf(object)["metadata"]);
    if (textOf(metadata["uid"]) !== uid) throw new DecisionGoneError(name);
    if (textOf(metadata["deletionTimestamp"]) === "" || decision.status === undefined) return;
    const message = "It was deleted and waits for its finalizers";
    throw new HaltError({ ...decision.status, phase: "Paused", message });
  }

  /** Asks about the patch whose value git will keep. */
  async #mayAct(): Promise<boolean> {
    const { api, signal, decision } = this.#options;
    const change = decision().spec.steps.find((step) => step.action === "SetMemoryLimit")?.setMemoryLimit;
    const place = change === undefined ? {} : { namespace: change.namespace, name: change.name };
    const text = await api.call({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: JSON.stringify({
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { group: "apps", resource: "daemonsets", verb: "patch", ...place } },
      }),
      deadlineMs: requestMs,
      signal,
    });
    const review: unknown = JSON.parse(text);
    return objectOf(objectOf(review)["status"])["allowed"] === true;
  }

  #mustLead(): void {
    const isHeld = this.#options.leader.isHeld();
    this.#options.signal.throwIfAborted();
    if (!isHeld) throw new LeveeError("cancelled", "Cannot write: this guard does not lead");
  }

  async #patiently<T>(send: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await send();
      } catch (thrown) {
        if (!isPassing(thrown) || attempt === tries) throw thrown;
        await this.#options.clock.sleep(betweenTriesMs, this.#options.signal);
        this.#mustLead();
      }
    }
  }
}

/** Requests that change nothing the second time: deletes by UID, merge patches. */
function isRepeatable({ method, contentType }: KubeRequest): boolean {
  if (method === "GET" || method === "DELETE") return true;
  return method === "PATCH" && contentType === "application/merge-patch+json";
}
