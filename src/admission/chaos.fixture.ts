import { expect } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { VirtualClock, settle } from "../base/virtual-clock.fixture.ts";
import { requestSlot, attachRequest, mib, okRun } from "./admission.fixture.ts";
import { defaultLimits } from "./admission-limits.ts";
import { Admission } from "./admission.ts";
import type { Ruling } from "./rulings.ts";
import type { Permit } from "./permit.ts";
import type { AdmissionRequest } from "./request.ts";

export const chaosLimits = { attachCeiling: 6, detachCeiling: 3, waitingMax: 40 };

interface Caller {
  readonly request: AdmissionRequest;
  readonly controller: AbortController;
}

/**
 * A node on which everything happens in an order that the seed decides, beside a plain model of the invariants.
 */
export class Chaos {
  readonly clock: VirtualClock;
  readonly admission: Admission;
  /** Every ruling as text. Two runs of one seed must agree. */
  readonly story: string[] = [];
  readonly #dice: VirtualClock;
  readonly #callers: Caller[] = [];
  /** Requests without a ruling. */
  readonly #waiting = new Set<AdmissionRequest>();
  /** Granted and not released; undefined until the promise has resolved with the permit. */
  readonly #running = new Map<AdmissionRequest, Permit | undefined>();
  readonly #old: Permit[] = [];

  constructor(seed: number) {
    this.#dice = new VirtualClock(seed);
    this.clock = new VirtualClock(seed);
    this.admission = new Admission({ clock: this.clock, limits: chaosLimits, onRuling: (what) => this.#decided(what) });
  }

  async step(): Promise<void> {
    await this.#one(this.#actions)?.();
    await settle();
    this.#check();
  }

  /** Ends all callers and releases all permits. */
  async end(): Promise<void> {
    for (const { controller } of this.#callers) controller.abort(new LeveeError("cancelled", "the end"));
    while (this.#running.size > 0) {
      await settle();
      for (const permit of this.#running.values()) if (permit !== undefined) this.#release(permit);
    }
    await this.clock.advance(1_000);
  }

  readonly #actions: readonly (() => unknown)[] = [
    () => this.#ask(),
    () => this.#ask(),
    () => this.#burst(),
    () => this.#one(this.#callers)?.controller.abort(new LeveeError("hand-lost", "gone")),
    ...Array.from({ length: 6 }, () => () => this.#withPermit((permit) => this.#release(permit))),
    () => this.#releaseAll(),
    () => this.#misfortune(),
    () => this.admission.prioritize(this.#pod("a"), 2_000_000_000),
    () => this.admission.expect(this.#pod("b"), 2_000_000_000),
    () => this.admission.unexpect(this.#pod("b")),
    () => this.admission.hurry(),
    () => this.#withPermit((permit) => permit.started(this.#one(permit.request.networks) ?? "p")),
    () => this.#withPermit((permit) => this.#hang(permit)),
    () => this.#withPermit((permit) => permit.progress(this.#one([0, 500, 1_500]) ?? 0)),
    () => this.#withPermit((permit) => this.#report(permit)),
    () => this.#withPermit((permit) => this.#settle(permit)),
    () => this.#pokeOld(),
    () => this.#observe(),
    () => this.clock.advance(this.#one([1, 40, 300, 300, 2_000, 2_000, 9_000, 70_000]) ?? 0),
  ];

  #burst(): void {
    for (let count = 0; count < 12; count += 1) this.#ask();
  }

  #ask(): void {
    const namespace = this.#one(["a", "b", "c", "kube-system"]) ?? "a";
    const request = attachRequest({
      kind: this.#one(["attach", "attach", "detach", "other"] as const) ?? "attach",
      namespace,
      pod: this.#pod(namespace),
      networks: this.#one([["p"], ["p"], ["p", "x"], ["y", "p"], ["q"], []]) ?? [],
    });
    const controller = new AbortController();
    // Some callers leave before their request, some right after it.
    if (this.#dice.random() < 0.03) controller.abort(new LeveeError("hand-lost", "early"));
    else if (request.kind !== "other") this.#waiting.add(request);
    this.#callers.push({ request, controller });
    void this.#follow(request, controller);
    if (this.#dice.random() < 0.05) controller.abort(new LeveeError("hand-lost", "at once"));
  }

  async #follow(request: AdmissionRequest, { signal }: AbortController): Promise<void> {
    const asked = requestSlot(this.admission, request, signal);
    await settle();
    while (asked.permit === undefined && asked.error === undefined && this.#waiting.has(request)) {
      await new Promise((resolve) => void this.#wakes.push(resolve));
      await settle();
    }
    if (asked.permit !== undefined && request.kind !== "other") this.#running.set(request, asked.permit);
  }

  readonly #wakes: ((value: unknown) => void)[] = [];
  /** Networks that have worked since they last hung. */
  readonly #trusted = new Set<string>();

  #decided(ruling: Ruling): void {
    const { what, request, admissionClass, detail } = ruling;
    this.#doubt(ruling);
    this.story.push(`${this.clock.monotonicMs()} ${what} ${request?.pod ?? ""} ${admissionClass ?? ""} ${detail}`);
    if (request === undefined || ["queued", "upgraded", "hung", "moves-again", "oom-killed"].includes(what)) return;
    this.#waiting.delete(request);
    if (what === "admitted") {
      this.#running.set(request, undefined);
      this.#checkGrant(request, admissionClass === "critical");
    }
    for (const wake of this.#wakes.splice(0)) wake(undefined);
  }

  #doubt({ what, request, network = "" }: Ruling): void {
    if (what === "hung" && request?.kind === "attach") this.#trusted.delete(network);
  }

  /** A grant never exceeds the current limit, nor a network's half while requests for other working networks wait. */
  #checkGrant(request: AdmissionRequest, isCritical: boolean): void {
    const facts = this.admission.facts();
    if (request.kind === "detach") {
      expect(facts.detaching).toBeLessThanOrEqual(chaosLimits.detachCeiling);
      return;
    }
    const slots = isCritical ? Math.min(facts.limit + 1, facts.ceiling) : facts.limit;
    expect(facts.attaching).toBeLessThanOrEqual(slots);
    const open = new Set(facts.openNetworks.map(({ network }) => network));
    const others = [...this.#waiting].filter(
      ({ kind, networks }) =>
        kind === "attach" && networks.every((network) => this.#trusted.has(network) && !open.has(network)),
    );
    for (const network of request.networks) {
      const holders = [...this.#running].filter(([{ kind, networks }, permit]) => {
        return kind === "attach" && networks.includes(network) && permit?.hungNetwork === undefined;
      });
      const isWantedByAll = others.every(({ networks }) => networks.includes(network));
      if (!isWantedByAll) expect(holders.length).toBeLessThanOrEqual(Math.ceil(slots / 2));
    }
  }

  /** No slot is lost or invented: admission counts exactly the held permits. */
  #check(): void {
    const facts = this.admission.facts();
    expect(facts.attaching + facts.detaching + facts.hung).toBe(this.#running.size);
    const waiting = Object.values(facts.waiting).reduce((sum, count) => sum + count, 0);
    expect(waiting).toBe(this.#waiting.size);
    this.#checkMemory(facts.delegateBytes);
    expect(facts.limit).toBeWithin(1, facts.ceiling + 1);
    expect(facts.oldestWaitMs).toBeLessThanOrEqual(defaultLimits.addQueueMs);
  }

  /** The reserved memory is the sum over all permits, and only a hung permit holds less than its prediction. */
  #checkMemory(delegateBytes: number): void {
    const permits = [...this.#running.values()].filter((permit) => permit !== undefined);
    expect(permits).toHaveLength(this.#running.size);
    expect(permits.reduce((sum, { heldBytes }) => sum + heldBytes, 0)).toBe(delegateBytes);
    for (const { bytes, heldBytes, hungNetwork } of permits) {
      expect(heldBytes).toBeWithin(hungNetwork === undefined ? bytes : 0, bytes + 1);
    }
  }

  /** The same pod fails repeatedly, so it is over its retry budget when its holds have passed. */
  #misfortune(): void {
    const pod = this.#pod("b");
    for (let failure = 0; failure < 4; failure += 1) {
      this.admission.charge({ pod, wants: () => "" }, { cause: "other", reason: "misfortune" });
    }
  }

  #releaseAll(): void {
    for (const permit of this.#running.values()) if (permit !== undefined) this.#release(permit);
  }

  #pod(namespace: string): string {
    return `${namespace}/${Math.floor(this.#dice.random() * 20)}`;
  }

  #release(permit: Permit): void {
    this.#running.delete(permit.request);
    this.#old.push(permit);
    permit[Symbol.dispose]();
  }

  /** A released permit must have no effect. */
  #pokeOld(): void {
    const permit = this.#one(this.#old);
    permit?.progress(0);
    permit?.started("p");
    permit?.ran(okRun({ network: "p" }));
    permit?.[Symbol.dispose]();
  }

  async #hang(permit: Permit): Promise<void> {
    permit.started(this.#one(permit.request.networks) ?? "p");
    await this.clock.advance(8_000);
    permit.progress(2_000);
  }

  #report(permit: Permit): void {
    const network = this.#one(permit.request.networks) ?? "p";
    const result = this.#one(["ok", "ok", "failed", "timeout"] as const) ?? "ok";
    const [tookMs, isOomKilled] = [this.#dice.random() * 500, this.#dice.random() < 0.1];
    // Whole numbers, because the reserved bytes must add up exactly.
    const peakBytes = this.#one([8, 20, 60].map((size) => size * mib));
    permit.ran(okRun({ network, result, tookMs, isOomKilled, peakBytes }));
    if (result === "ok" && permit.request.kind === "attach") this.#trusted.add(network);
  }

  #settle(permit: Permit): void {
    const network = this.#one(permit.request.networks) ?? "p";
    const cause = this.#one(["own", "network", "network", "other"] as const) ?? "own";
    permit.settle(this.#dice.random() < 0.5 ? "ok" : { cause, network, reason: "chaos" });
  }

  #observe(): void {
    const usageBytes = this.#one([10, 10, 50, 50, 90, 97]) ?? 0;
    const full = this.#one([0, 0, 0, 0, 50]) ?? 0;
    const ownMemory = { limitBytes: 100, usageBytes, oomKills: 0 };
    this.admission.observe({ ownMemory, pressure: { memory: { some: full, full } } });
  }

  #withPermit(act: (permit: Permit) => unknown): unknown {
    const permit = this.#one([...this.#running.values()].filter((held) => held !== undefined));
    return permit === undefined ? undefined : act(permit);
  }

  #one<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.#dice.random() * choices.length)];
  }
}
