import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { parseRebootGate } from "../../wire/reboot-gate.ts";
import type { SimEvent } from "../node/sim-event.ts";
import type { Broken } from "../story/invariants.ts";
import type { AcceptedWrite } from "./api-server.ts";
import { simGuardNamespace } from "./cluster-objects.ts";
import { GateTruth, expiryMs } from "./gate-truth.ts";
import { kindOfChange, countedRemovals, coveringDecisions, isEffect, isVerified } from "./guard-effects.ts";
import { problemsAtEnd } from "./guard-end.ts";
import type { GuardWorld } from "./guard-world.ts";
import { SaidWords } from "./said-words.ts";

/** A guard stops five seconds before its Lease ends, so what it sends is within it. */
const leaseMs = 15_000;
/** From reading people's words to the write behind it, when all is well, and when the server is slow or refuses. */
const graceMs = 500;
const troubledGraceMs = 20_000;
/** Words count from 5 s after their policy came; times of objects are whole seconds, and we look every few seconds. */
const policyAgeMs = 6_000;
/** Clocks differ by this much. */
const skewMs = 4_000;
/** A look begins with the facts, and may wait for a slow server before it writes. */
const lookMs = 15_000;
/** The label is closed by a look of the daemon, and a ticket ends by itself. */
const doorMs = 45_000;
/** Prometheus scrapes every 15 s, and what a guard has heard may take a while to be written down. */
const siteAgeMs = 90_000;
/** Lists and watches of one resource by one guard, which may follow it twice, with a back-off that starts at half a second. */
const followsMax = 20;
const followsWindowMs = 10_000;

/** What must hold at every moment of a guard story, and at its end. */
export class GuardRules {
  readonly broken: Broken[] = [];
  readonly #world: GuardWorld;
  readonly #words = new SaidWords();
  readonly #truth: GateTruth;
  #lease = { holder: "", atMs: 0 };
  #leaseBefore = { holder: "", atMs: 0, untilMs: 0 };
  #troubledMs = Number.NEGATIVE_INFINITY;
  #removed = 0;
  #policyGoneMs: number | undefined;
  #policyBackMs = Number.NEGATIVE_INFINITY;
  /** Since when people outside do not see the site. */
  #siteGoneMs: number | undefined;
  readonly #changes = new Map<string, number>();
  readonly #follows = new Map<string, number[]>();
  /** When an Allow last stood, by node. */
  readonly #allowedMs = new Map<string, number>();
  readonly #away = new Map<string, number>();

  constructor(world: GuardWorld) {
    this.#world = world;
    this.#truth = new GateTruth(world);
  }

  /** Called with everything that happens. */
  see(nowMs: number, event: SimEvent): void {
    if (event.kind !== "api" || event.by === undefined) return;
    const key = `${event.by} ${event.resource}`;
    const times = this.#follows.get(key) ?? [];
    this.#follows.set(key, times);
    times.push(nowMs);
    const firstMs = times.length > followsMax ? times.shift() : undefined;
    if (firstMs !== undefined && nowMs - firstMs < followsWindowMs)
      this.#break("api-load", `${key}: ${followsMax} lists and watches within ${Math.round(nowMs - firstMs)} ms`);
  }

  /** Called with each write that the server accepts. */
  written(nowMs: number, write: AcceptedWrite): void {
    const { resource, key, after, user } = write;
    this.#words.see(nowMs, write);
    if (user.account === "guard" && !write.isDryRun && resource !== "leases") this.#guardWrote(nowMs, write);
    if (resource === "decisions" && user.account === "guard") this.#verified(write);
    if (resource === "leases" && key.endsWith("/levee-guard"))
      this.#leaseWritten(nowMs, textOf(objectOf(after?.["spec"])["holderIdentity"]));
  }

  #guardWrote(nowMs: number, write: AcceptedWrite): void {
    const { resource, operation } = write;
    if (resource !== "events") this.#ledBySender(write);
    if (isEffect(write)) this.#approved(nowMs, write);
    if (resource === "rebootgates" && operation !== "DELETE") this.#gateWritten(write);
  }

  /** Called at the instant at which a node is rebooted. */
  rebooted(nowMs: number, node: string): void {
    this.#truth.look(nowMs);
    const { gate, rebootMs } = this.#world.reboots;
    const others = [...this.#away].filter(([name, untilMs]) => name !== node && untilMs > nowMs).map(([name]) => name);
    if (others.length >= gate.atOnce)
      this.#break("one-reboot", `${node} was rebooted while ${others.join(", ")} was away`);
    this.#away.set(node, nowMs + rebootMs);
    this.#gateStands(nowMs, node);
    const lastMs = this.#allowedMs.get(node) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - lastMs > doorMs) this.#break("open-door", `${node} was rebooted, and no Allow stood`);
    const reason = this.#truth.against(node, nowMs, expiryMs + doorMs + lookMs);
    if (reason !== undefined)
      this.#break(
        "stale-reboot",
        `${node} was rebooted in spite of ${reason.what}, for ${since(reason.sinceMs, nowMs)}`,
      );
  }

  /** Called every few seconds. */
  look(nowMs: number): void {
    this.#truth.look(nowMs);
    const { api, guards } = this.#world;
    const { busyShare, answerMsMax, isAway, lagMs } = api.trouble;
    const isCut = guards.some(({ link }) => link.isCut || link.lateShare > 0);
    if (busyShare > 0 || answerMsMax > 100 || isAway || lagMs > 0 || isCut) this.#troubledMs = nowMs;
    this.#lookForPolicy(nowMs);
    this.#siteGoneMs = this.#world.fleet.prometheus.siteNow === 1 ? undefined : (this.#siteGoneMs ?? nowMs);
    for (const node of this.#world.nodes) this.#gateStands(nowMs, node);
  }

  #lookForPolicy(nowMs: number): void {
    const { api } = this.#world;
    const isThere = api.get("validatingadmissionpolicybindings", "/levee-approval-names-its-author") !== undefined;
    if (isThere && this.#policyGoneMs !== undefined) this.#policyBackMs = nowMs;
    this.#policyGoneMs = isThere ? undefined : (this.#policyGoneMs ?? nowMs);
  }

  /** Called when all is calm again and had time to settle. */
  atEnd(nowMs: number): readonly Broken[] {
    return problemsAtEnd(this.#world, nowMs);
  }

  #leaseWritten(nowMs: number, holder: string): void {
    if (holder !== this.#lease.holder) this.#leaseBefore = { ...this.#lease, untilMs: nowMs };
    this.#lease = { holder, atMs: nowMs };
  }

  /** Who sent it held the Lease then. */
  #ledBySender({ user, sentMs, resource, key }: AcceptedWrite): void {
    const isNow = this.#lease.holder === user.name && sentMs - this.#lease.atMs <= leaseMs;
    const { holder, atMs, untilMs } = this.#leaseBefore;
    const wasThen = holder === user.name && sentMs <= untilMs && sentMs - atMs <= leaseMs;
    if (!isNow && !wasThen)
      this.#break("led", `${user.name} changed ${resource} ${key} without the Lease, which ${this.#lease.holder} had`);
  }

  #approved(nowMs: number, write: AcceptedWrite): void {
    const { api } = this.#world;
    const { resource, key, sentMs, user } = write;
    const decisions = coveringDecisions(api.objects("decisions"), write);
    const running = decisions.filter(({ status }) => status?.phase === "Running" || nowMs - sentMs > graceMs);
    const untilMs = sentMs - (sentMs - this.#troubledMs < 60_000 ? troubledGraceMs : graceMs);
    const fromMs = this.#policyBackMs + policyAgeMs;
    const problems = running.map((decision) => this.#words.problem(decision, { fromMs, untilMs, sentMs }));
    if (problems.every((problem) => problem !== undefined)) {
      const why =
        problems[0] ?? `no running Decision is about it: ${decisions.map(({ status }) => status?.phase).join()}`;
      this.#break("approved", `${user.name} changed ${resource} ${key}: ${why}`);
    }
    if (this.#policyGoneMs !== undefined && untilMs - this.#policyGoneMs > 6_000)
      this.#break("approved", `${user.name} changed ${resource} ${key}, and anybody could have forged the approval`);
    if (resource === "pods") this.#countRemoval(write);
    else this.#once(`${running[0]?.metadata.name} ${key} ${kindOfChange(write)}`);
  }

  /** Each removal is counted in the cluster before it is done, for whoever leads next. */
  #countRemoval({ before, key }: AcceptedWrite): void {
    if (objectOf(before?.["metadata"])["deletionTimestamp"] !== undefined) return;
    this.#removed += 1;
    const counted = countedRemovals(this.#world.api.get("configmaps", `${simGuardNamespace}/levee-guard`));
    if (counted < this.#removed)
      this.#break("counted", `${key} is removal ${this.#removed}, and ${counted} are counted`);
  }

  /** No recovery counts as verified while its site is not seen. */
  #verified({ before, after, key, sentMs }: AcceptedWrite): void {
    if (this.#siteGoneMs === undefined || sentMs - this.#siteGoneMs < siteAgeMs) return;
    if (isVerified(after) && !isVerified(before))
      this.#break("verified", `${key} is verified, and the site is gone for ${since(this.#siteGoneMs, sentMs)}`);
  }

  #once(what: string): void {
    const times = (this.#changes.get(what) ?? 0) + 1;
    this.#changes.set(what, times);
    if (times > 1) this.#break("once", `${what} was changed ${times} times`);
  }

  /** An Allow rests on facts that are not too old. */
  #gateWritten({ after, user }: AcceptedWrite): void {
    const gate = parseRebootGate(after);
    if (gate?.verdict !== "Allow" || gate.override !== undefined) return;
    const nowMs = gate.observedAtMs - this.#world.time.wallMs + this.#world.time.nowMs;
    const reason = this.#truth.against(gate.node, nowMs, skewMs + lookMs);
    if (reason !== undefined)
      this.#break(
        "fresh-allow",
        `${user.name} allowed ${gate.node} in spite of ${reason.what}, for ${since(reason.sinceMs, nowMs)}`,
      );
  }

  #gateStands(nowMs: number, node: string): void {
    const gate = this.#truth.gate(node);
    const { wallMs } = this.#world.time;
    if (gate?.verdict !== "Allow" || gate.expiresAtMs + skewMs < wallMs) return;
    this.#allowedMs.set(node, nowMs);
    const reason = this.#truth.against(node, nowMs, expiryMs + skewMs + lookMs);
    if (reason !== undefined)
      this.#break(
        "fresh-allow",
        `an Allow of ${node} stands in spite of ${reason.what}, for ${since(reason.sinceMs, nowMs)}`,
      );
  }

  #break(rule: string, text: string): void {
    this.broken.push({ rule, text });
  }
}

function since(sinceMs: number, nowMs: number): string {
  return `${Math.round((nowMs - sinceMs) / 1_000)} s`;
}
