import { silentLogger } from "../../base/log.ts";
import { KubeError, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { installedPolicies } from "../approve/policies.fixture.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import { propose } from "../decide/propose.ts";
import type { Decision, DecisionApproval, DecisionStatus, Verdict } from "../decision/decision.ts";
import { planHash } from "../decision/plan-hash.ts";
import type { Step } from "../decision/step.ts";
import { defaultGuardSettings as settings } from "../facts/guard-settings.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import { timeText } from "../json-values.ts";
import type { World } from "../facts/world.ts";
import { outage } from "../outage.fixture.ts";
import { podList } from "../world.fixture.ts";
import type { CarryOutOptions } from "./carry-out-options.ts";

/** An API server with one Decision, people's words about it, and the test's other objects. */
export class GuardedServer implements KubeApi {
  readonly clock = new ManualClock();
  readonly objects = new Map<string, unknown>();
  /** All requests except reads. */
  readonly written: KubeRequest[] = [];
  approvals: DecisionApproval[] = [];
  policies = installedPolicies(timeText(this.clock.wallMs() - 3_600_000));
  decision: Decision;
  /** Replaces the server's answer when it returns one. */
  answer: (request: KubeRequest) => string | Error | undefined = () => undefined;
  seen: World = outage();
  /** The server's pods, when the watch is behind. */
  live: Iterable<ClusterPod> | undefined;
  isHeld = true;
  /** The answer about the guard's right to act. */
  mayAct = true;
  readonly stop = new AbortController();

  /** Approved by alice. Takes the steps with these actions from the outage's recovery or stop. */
  constructor(actions: readonly Step["action"][]) {
    const all = propose(outage(), settings).flatMap(({ spec }) => spec.steps);
    const steps = actions.map((action, index): Step => {
      const step = all.find((one) => one.action === action)!;
      return { ...step, id: index + 1, check: { ...step.check, deadlineSeconds: 60 } };
    });
    const purpose = actions[0] === "StopSource" ? "StopSource" : "Recover";
    const base = propose(outage(), settings)[1]!.spec;
    const spec = { ...base, purpose, steps } as const;
    this.decision = {
      apiVersion: "levee.dev/v1alpha1",
      kind: "Decision",
      metadata: {
        name: "q",
        namespace: "levee-system",
        uid: "uid-q",
        resourceVersion: "7",
        creationTimestamp: this.#at(),
      },
      spec: { ...spec, planHash: planHash(spec) },
    };
    this.say("Approve");
    const approval = { name: "Approve-1", by: "alice", at: this.#at() };
    this.decision = { ...this.decision, status: this.status({ phase: "Approved", approval }) };
  }

  status(changes: Partial<DecisionStatus>): DecisionStatus {
    return { phase: "Approved", message: "", fence: 3, leader: "guard-a", since: this.#at(), ...changes };
  }

  say(verdict: Verdict): void {
    const { name, namespace, uid = "" } = this.decision.metadata;
    const { planHash: hash } = this.decision.spec;
    this.approvals.push({
      apiVersion: "levee.dev/v1alpha1",
      kind: "DecisionApproval",
      metadata: { name: `${verdict}-${this.approvals.length + 1}`, namespace, creationTimestamp: this.#at() },
      spec: { decision: name, decisionUID: uid, planHash: hash, verdict, by: { username: "alice" } },
    });
  }

  options(changes: Partial<CarryOutOptions> = {}): CarryOutOptions {
    return {
      api: this,
      clock: this.clock,
      logger: silentLogger,
      settings,
      runners: {},
      term: { identity: "guard-a", fence: 3, isHeld: () => this.isHeld },
      signal: this.stop.signal,
      world: () => this.seen,
      ...changes,
    };
  }

  async call(request: KubeRequest): Promise<string> {
    await Promise.resolve();
    const answer = this.answer(request);
    if (answer instanceof Error) throw answer;
    if (answer !== undefined) return answer;
    if (request.method === "GET") return JSON.stringify(this.#read(request.path));
    if (request.path.endsWith("/selfsubjectaccessreviews")) return JSON.stringify({ status: { allowed: this.mayAct } });
    this.written.push(request);
    if (request.path.endsWith("/decisions/q/status")) this.#merge(request);
    return "{}";
  }

  lines(): never {
    throw new Error("no test watches");
  }

  #read(path: string): unknown {
    if (path.includes("/decisionapprovals?")) return { metadata: { resourceVersion: "1" }, items: this.approvals };
    if (path.endsWith("/decisions/q")) return this.decision;
    const kind = /\/(validatingadmissionpolic[a-z]+)\?/u.exec(path)?.[1];
    if (kind !== undefined) return { metadata: { resourceVersion: "1" }, items: this.#policiesOf(kind) };
    if (path.startsWith("/api/v1/namespaces/fc-desktop/pods?")) return podList(this.live ?? this.seen.pods);
    const object = this.objects.get(path);
    if (object === undefined) throw refusal(404);
    return object;
  }

  #policiesOf(resource: string): readonly PolicyObject[] {
    return this.policies.filter(({ kind }) => kind.endsWith("Binding") === resource.endsWith("bindings"));
  }

  #merge({ body }: KubeRequest): void {
    const { metadata, status } = JSON.parse(body ?? "{}") as {
      metadata: { resourceVersion?: string };
      status: DecisionStatus;
    };
    const version = this.decision.metadata.resourceVersion ?? "0";
    if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== version) throw refusal(409);
    const resourceVersion = String(Number(version) + 1);
    this.decision = { ...this.decision, metadata: { ...this.decision.metadata, resourceVersion }, status };
  }

  #at(): string {
    return timeText(this.clock.wallMs());
  }
}

export function refusal(status: number, message = `no: ${status}`): KubeError {
  return new KubeError("api-refused", message, { status });
}
