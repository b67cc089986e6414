/** A guard whose every request a test can look at, on a real API server and with the shipped account, rights and policies. */
import { systemClock } from "../../../src/base/clock.ts";
import { silentLogger } from "../../../src/base/log.ts";
import type { CarryOutOptions } from "../../../src/guard/act/carry-out-options.ts";
import { carryOut } from "../../../src/guard/act/carry-out.ts";
import { stepRunners } from "../../../src/guard/act/step-runners.ts";
import { memoryQuestions } from "../../../src/guard/decide/lower/memory-questions.ts";
import { propose } from "../../../src/guard/decide/propose.ts";
import {
  decisionApiVersion,
  type Decision,
  type DecisionPhase,
  type DecisionPurpose,
  type DecisionSpec,
  type Verdict,
} from "../../../src/guard/decision/decision.ts";
import { parseDecision } from "../../../src/guard/decision/parse-decision.ts";
import { planHash } from "../../../src/guard/decision/plan-hash.ts";
import type { RemovePodsStep } from "../../../src/guard/decision/step.ts";
import { defaultGuardSettings as settings } from "../../../src/guard/facts/guard-settings.ts";
import type { NodeViewFacts, World } from "../../../src/guard/facts/world.ts";
import { ClusterFacts } from "../../../src/guard/observe/cluster-facts.ts";
import { MemorySource } from "../../../src/guard/observe/memory-source.ts";
import { BudgetLook } from "../../../src/guard/reconcile/budget-look.ts";
import { CalmKeeper } from "../../../src/guard/reconcile/calm-keeper.ts";
import { guardRound, type RoundResult, type RoundSource } from "../../../src/guard/reconcile/guard-round.ts";
import { fixedAccess } from "../../../src/kube/access/access.ts";
import { ApiClient } from "../../../src/kube/client/api-client.ts";
import type { KubeApi, KubeRequest } from "../../../src/kube/client/api.ts";
import { alice, approvals, decisions, guardUser, makePod } from "./guard-server.ts";
import type { PolicyServer } from "../policy-server.ts";
import { until } from "../until.ts";

const budgetPath = "/api/v1/namespaces/levee-system/configmaps/levee-guard";

export interface FakeTerm {
  readonly identity: string;
  readonly fence: number;
  readonly heardMs?: number;
  isHeld(): boolean;
}

/** The parts of a guard, driven by a test. */
export class ActingGuard {
  readonly server: PolicyServer;
  readonly facts: ClusterFacts;
  readonly #client: ApiClient;
  /** Every request that was answered with success, but lists and watches. */
  readonly sent: KubeRequest[] = [];
  /** Called after each success, before the sender goes on. */
  afterwards: (request: KubeRequest) => Promise<void> | void = () => undefined;
  term: FakeTerm = { identity: "guard-a", fence: 1, isHeld: () => true };
  readonly #made = new Map<string, number>();
  #words = 0;
  /** What the nodes' daemons tell. */
  nodeViews: () => readonly NodeViewFacts[] = () => [];
  calm: CalmKeeper;
  #memory: MemorySource | undefined;
  /** How far its clock is ahead, so that a test does not wait for minutes. */
  aheadMs = 0;
  readonly #clock = { ...systemClock, wallMs: () => systemClock.wallMs() + this.aheadMs };

  constructor(server: PolicyServer) {
    this.server = server;
    const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
    const access = fixedAccess(server.url, { token, tls: { rejectUnauthorized: false } });
    this.#client = new ApiClient({ access, clock: systemClock });
    this.calm = this.nextKeeper();
    const memoryOfPrometheus = (): Pick<World, "memoryPasts" | "memoryUses"> => ({
      memoryPasts: this.#memory?.pasts() ?? [],
      memoryUses: this.#memory?.uses() ?? [],
    });
    const views = { nodeViews: () => this.nodeViews(), memoryCalms: () => this.calm.calms, memoryOfPrometheus };
    const sources = { alerts: () => [], gitFiles: () => [], notes: () => [], ...views };
    this.facts = new ClusterFacts({ api: this.#client, clock: this.#clock, logger: silentLogger, settings, sources });
  }

  get api(): KubeApi {
    return {
      call: async (request) => {
        const text = await this.#client.call(request);
        this.sent.push(request);
        await this.afterwards(request);
        return text;
      },
      lines: (path, options) => this.#client.lines(path, options),
    };
  }

  /** As a new leader has it. */
  nextKeeper(): CalmKeeper {
    return new CalmKeeper({ api: this.#client, logger: silentLogger, settings });
  }

  /** Asks this Prometheus, several times a second, about what it would ask every few seconds. */
  askPrometheus(url: string): void {
    const sleep = (ms: number, signal?: AbortSignal): Promise<void> => systemClock.sleep(ms / 50, signal);
    const wanted = (): ReturnType<typeof memoryQuestions> => memoryQuestions(this.facts.world(), settings);
    const clock = { ...this.#clock, sleep };
    this.#memory = new MemorySource({ clock, logger: silentLogger, prometheus: { url }, cluster: "", wanted });
    this.#memory.start();
  }

  async close(): Promise<void> {
    await this.#memory?.close();
    await this.facts.close();
    this.#client.close();
    await this.#clearAway();
  }

  /**
   * Takes away what this guard and its test have made. A round looks at every Decision there is: one that a test with a
   * higher fence has left behind would refuse the rounds of the next test.
   */
  async #clearAway(): Promise<void> {
    const pods = [...this.#made.keys()].map((namespace) => `/api/v1/namespaces/${namespace}/pods`);
    // No garbage collector runs here, so nothing may wait for one.
    const options = { gracePeriodSeconds: 0, propagationPolicy: "Background" };
    const body = { apiVersion: "v1", kind: "DeleteOptions", ...options };
    for (const path of [...pods, approvals, decisions, budgetPath])
      // A policy of the test that refuses it counts for a moment after it is gone.
      await until(`${path} is deleted`, async () => {
        const { code, text } = await this.server.ask({ method: "DELETE", path, body });
        if ([200, 404].includes(code)) return true;
        throw new Error(`${code} ${text}`);
      });
  }

  /** Pods that never started, bound ten minutes ago as they say themselves. */
  async avalanche(namespace: string, count: number): Promise<void> {
    this.server.must(["create", "namespace", namespace]);
    for (let index = 0; index < count; index += 1) await this.stuckPod(namespace, `rd-${index}`);
    this.#made.set(namespace, count);
  }

  async stuckPod(namespace: string, name: string): Promise<void> {
    const lastTransitionTime = new Date(Date.now() - 600_000).toISOString();
    const conditions = [{ type: "PodScheduled", status: "True", lastTransitionTime }];
    await makePod(this.server, { name, namespace, node: "n1" }, { phase: "Pending", conditions });
  }

  /** A recovery that only removes pods, approved by a person. It forces soon, as no kubelet ends pods here. */
  async removal(namespace: string, changes: Partial<RemovePodsStep["removePods"]> = {}): Promise<Decision> {
    this.server.must(["label", "namespace", namespace, "levee.dev/ownerless-pods=deny"]);
    const spec = await until("the avalanche is seen", () => this.#spec(namespace, changes));
    return this.#approved(`recover-${namespace}-1`, spec);
  }

  /** A stop whose check does not wait long, approved by a person. */
  async stop(namespace: string): Promise<Decision> {
    const spec = await until("the avalanche is seen", () => this.#proposed(namespace, "StopSource"));
    const steps = spec.steps.map((step) => ({ ...step, check: { ...step.check, deadlineSeconds: 40 } }));
    return this.#approved(`stop-${namespace}-1`, { ...spec, steps, planHash: planHash({ ...spec, steps }) });
  }

  async #approved(name: string, spec: DecisionSpec): Promise<Decision> {
    const body = {
      apiVersion: decisionApiVersion,
      kind: "Decision",
      metadata: { name, namespace: "levee-system" },
      spec,
    };
    const answer = await this.server.ask({ method: "POST", path: decisions, body, as: { user: guardUser } });
    if (answer.code !== 201) throw new Error(answer.text);
    await this.say(name, "Approve");
    return this.untilPhase(name, "Approved");
  }

  #spec(namespace: string, changes: Partial<RemovePodsStep["removePods"]>): DecisionSpec | undefined {
    const proposed = this.#proposed(namespace, "Recover");
    const step = proposed?.steps.find((one) => one.action === "RemovePods");
    if (proposed === undefined || step === undefined) return undefined;
    // The watch may not have brought the last of them yet.
    if (step.targets.length !== this.#made.get(namespace)) return undefined;
    const removePods = { ...step.removePods, forceAfterSeconds: 2, ...changes };
    const steps = [{ ...step, id: 1, removePods, check: { ...step.check, deadlineSeconds: 20 } }];
    const spec = { ...proposed, steps };
    return { ...spec, planHash: planHash(spec) };
  }

  #proposed(namespace: string, purpose: DecisionPurpose): DecisionSpec | undefined {
    const proposals = propose(this.facts.world(), settings).map(({ spec }) => spec);
    return proposals.find((spec) => spec.subject.namespace === namespace && spec.purpose === purpose);
  }

  async say(decision: string, verdict: Verdict, more: object = {}): Promise<string> {
    const { metadata, spec } = this.find(decision);
    const name = `${verdict.toLowerCase()}-${decision}-${(this.#words += 1)}`;
    const by = { username: alice.user };
    const body = {
      apiVersion: decisionApiVersion,
      kind: "DecisionApproval",
      metadata: { name, namespace: "levee-system" },
      spec: { decision, decisionUID: metadata.uid, planHash: spec.planHash, verdict, by, ...more },
    };
    const answer = await this.server.ask({ method: "POST", path: approvals, body, as: alice });
    if (answer.code !== 201) throw new Error(answer.text);
    return name;
  }

  find(name: string): Decision {
    const text = this.server.must(["-n", "levee-system", "get", "decision", name, "-o", "json"]);
    return parseDecision(JSON.parse(text)) ?? fail(name);
  }

  /** Rounds until the Decision is in the phase. */
  untilPhase(name: string, phase: DecisionPhase): Promise<Decision> {
    return until(`${name} is ${phase}`, async () => {
      await this.round();
      const decision = this.find(name);
      return decision.status?.phase === phase ? decision : undefined;
    });
  }

  /** `api`: for a look at its requests. `seen`: what it sees otherwise than it is. */
  async round(api: KubeApi = this.#client, seen: Partial<RoundSource> = {}): Promise<RoundResult> {
    const { facts, term } = this;
    const source: RoundSource = {
      isCurrent: () => facts.isCurrent(),
      world: () => facts.world(),
      approvals: () => facts.approvals(),
      policies: () => facts.policies(),
      ...seen,
    };
    return await guardRound({ api, clock: systemClock, logger: silentLogger, settings, source, term });
  }

  /** Says that so many pods of the namespace were removed within this hour. */
  spend(namespace: string, pods: number): void {
    const hour = String(Math.floor(Date.now() / 3_600_000));
    const budget = JSON.stringify({ hours: { [hour]: { [namespace]: pods } }, minute: 0, inMinute: 0, breaker: "" });
    const metadata = { name: "levee-guard", namespace: "levee-system" };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "removal-budget": budget } };
    this.server.must(["apply", "-f", "-"], JSON.stringify(body));
  }

  /** As each round does. */
  async resetBreaker(): Promise<void> {
    const look = new BudgetLook({ api: this.#client, clock: systemClock, logger: silentLogger, settings });
    await until("the breaker is closed", async () => {
      await look.refresh(this.facts);
      return look.notes.some((note) => note.startsWith("The breaker is open")) ? undefined : true;
    });
  }

  carryOut(decision: Decision, changes: Partial<CarryOutOptions> = {}): Promise<DecisionPhase | undefined> {
    const options: CarryOutOptions = {
      api: this.api,
      clock: systemClock,
      logger: silentLogger,
      settings,
      runners: stepRunners,
      term: this.term,
      signal: AbortSignal.timeout(120_000),
      world: () => this.facts.world(),
      ...changes,
    };
    return carryOut(options, decision);
  }

  /** After so many pods were asked to go, in earnest. */
  afterRemovals(count: number, act: () => Promise<unknown> | void): void {
    let seen = 0;
    this.afterwards = async (request) => {
      if (!isRemoval(request)) return;
      seen += 1;
      if (seen === count) await act();
    };
  }

  removals(): readonly string[] {
    return this.sent.filter(isRemoval).map(({ path }) => path);
  }

  /** By the API server's own answer, for the guard's account. */
  mayRemovePods(namespace: string): boolean {
    const asked = ["auth", "can-i", "delete", "pods", "-n", namespace, `--as=${guardUser}`];
    return this.server.kubectl(asked).stdout.trim() === "yes";
  }

  /** Names of the namespace's pods, those that are leaving with a star. */
  pods(namespace: string): readonly string[] {
    const { items } = JSON.parse(this.server.must(["-n", namespace, "get", "pods", "-o", "json"])) as {
      items: { metadata: { name: string; deletionTimestamp?: string } }[];
    };
    return items.map(({ metadata }) => `${metadata.name}${metadata.deletionTimestamp === undefined ? "" : "*"}`);
  }
}

function isRemoval({ method, path, body }: KubeRequest): boolean {
  return method === "DELETE" && path.includes("/pods/") && body?.includes("dryRun") !== true;
}

function fail(name: string): never {
  throw new Error(`${name} cannot be read`);
}
