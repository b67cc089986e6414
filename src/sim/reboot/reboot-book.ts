import { objectOf, textOf } from "../../kube/client/json-fields.ts";
import { parseRebootGate } from "../../wire/reboot-gate.ts";
import { standingVerdict } from "../../wire/standing-verdict.ts";
import type { AcceptedWrite } from "../guard/api-server.ts";
import type { GuardWorld } from "../guard/guard-world.ts";
import type { SimApiLoad } from "../storm/sim-storm-end.ts";
import { openCode } from "./open-code.ts";
import type { RebootEnd, RebootMoment, RebootRecord } from "./reboot-end.ts";
import type { RebootPlan } from "./reboot-plan.ts";

/** Between two looks at what holds the nodes. A guard looks every ten seconds. */
const lookMs = 5_000;
const secondMs = 1_000;
/** A plot shows no more. From here on every second one is left out. */
const momentsMax = 4_000;

/** Notes what happens to each node, by what the API server has and not by what a guard believes. */
export class RebootBook {
  readonly records: readonly RebootRecord[];
  readonly #world: GuardWorld;
  readonly #startMs: number;
  readonly #byNode: ReadonlyMap<string, RebootRecord>;
  #moments: RebootMoment[] = [];
  readonly #closedMs = new Map<string, number>();
  #onMoment: ((moment: RebootMoment) => void) | undefined;
  #awayMax = 0;
  #leader = "";
  #leads = 0;
  #requestsBefore: ReadonlyMap<string, number> = new Map();
  #secondBefore = 0;
  #perSecondMax = 0;

  constructor({ due }: RebootPlan, world: GuardWorld, startMs: number) {
    this.#world = world;
    this.#startMs = startMs;
    this.records = due.map(({ node, atMs }) => ({
      node,
      dueMs: atMs,
      allowedMs: undefined,
      rebootedMs: undefined,
      backMs: undefined,
      heldMs: new Map<string, number>(),
    }));
    this.#byNode = new Map(this.records.map((record) => [record.node, record]));
  }

  /** Called when everything runs. What the processes asked for until then does not count. */
  begin(onMoment?: (moment: RebootMoment) => void): void {
    this.#onMoment = onMoment;
    this.#requestsBefore = new Map(this.#world.api.requests);
    this.#secondBefore = this.#requests();
    this.#look();
    this.#every(lookMs, () => this.#look());
    this.#every(secondMs, () => {
      const requests = this.#requests();
      this.#perSecondMax = Math.max(this.#perSecondMax, requests - this.#secondBefore);
      this.#secondBefore = requests;
    });
  }

  /** Called with each write that the server accepts. */
  written({ resource, key, after }: AcceptedWrite): void {
    if (resource === "leases" && key.endsWith("/levee-guard"))
      this.#led(textOf(objectOf(after?.["spec"])["holderIdentity"]));
    if (resource !== "rebootgates") return;
    const gate = parseRebootGate(after);
    if (gate?.verdict !== "Allow") return;
    const record = this.#byNode.get(gate.node);
    if (record !== undefined) record.allowedMs ??= this.#nowMs;
  }

  /** Called at the instant of each reboot. */
  rebooted(node: string): void {
    const record = this.#byNode.get(node);
    if (record !== undefined) record.rebootedMs ??= this.#nowMs;
    this.#awayMax = Math.max(this.#awayMax, this.records.filter((one) => this.#isAway(one)).length);
  }

  /** Whether every node has been rebooted and is back. */
  get isDone(): boolean {
    return this.records.every((record) => this.#isBack(record));
  }

  facts(): Pick<RebootEnd, "records" | "moments" | "closedMs" | "awayMax" | "leads" | "api"> {
    for (const record of this.records) if (this.#isBack(record)) record.backMs = this.#backMs(record);
    return {
      records: this.records,
      moments: this.#moments,
      closedMs: this.#closedMs,
      awayMax: this.#awayMax,
      leads: this.#leads,
      api: this.#load(),
    };
  }

  #led(holder: string): void {
    if (holder === "" || holder === this.#leader) return;
    this.#leader = holder;
    this.#leads += 1;
  }

  #look(): void {
    const held = new Map<string, number>();
    const waiting = this.records.filter(({ dueMs, rebootedMs }) => dueMs <= this.#nowMs && rebootedMs === undefined);
    for (const record of waiting)
      for (const code of this.#reasonsFor(record.node)) {
        held.set(code, (held.get(code) ?? 0) + 1);
        record.heldMs.set(code, (record.heldMs.get(code) ?? 0) + lookMs);
      }
    for (const code of held.keys()) this.#closedMs.set(code, (this.#closedMs.get(code) ?? 0) + lookMs);
    const moment = {
      atMs: this.#nowMs,
      waiting: waiting.length,
      away: this.records.filter((record) => this.#isAway(record)).length,
      back: this.records.filter((record) => this.#isBack(record)).length,
      requests: this.#requests(),
      held,
    };
    this.#moments.push(moment);
    if (this.#moments.length > momentsMax) this.#moments = this.#moments.filter((_, at) => at % 2 === 0);
    this.#onMoment?.(moment);
  }

  #reasonsFor(node: string): ReadonlySet<string> {
    const gate = parseRebootGate(this.#world.api.get("rebootgates", `/${node}`));
    const { isAllowed, reasons } = standingVerdict(node, gate, this.#world.time.wallMs);
    return new Set(isAllowed ? [openCode] : reasons.map(({ code }) => code));
  }

  #backMs({ rebootedMs }: RebootRecord): number {
    return (rebootedMs ?? Number.POSITIVE_INFINITY) + this.#world.reboots.rebootMs;
  }

  #isBack(record: RebootRecord): boolean {
    return this.#backMs(record) <= this.#nowMs;
  }

  #isAway(record: RebootRecord): boolean {
    return record.rebootedMs !== undefined && !this.#isBack(record);
  }

  get #nowMs(): number {
    return Math.max(0, this.#world.time.nowMs - this.#startMs);
  }

  #requests(): number {
    return [...this.#world.api.requests].reduce((sum, [what, count]) => sum + count - this.#before(what), 0);
  }

  #before(what: string): number {
    return this.#requestsBefore.get(what) ?? 0;
  }

  #load(): SimApiLoad {
    const of = (...names: readonly string[]): number =>
      names.reduce((sum, name) => sum + (this.#world.api.requests.get(name) ?? 0) - this.#before(name), 0);
    const [lists, watches, gets] = [of("list", "streamed list"), of("watch"), of("get")];
    const writes = this.#requests() - lists - watches - gets;
    return { lists, watches, gets, writes, perSecondMax: this.#perSecondMax };
  }

  #every(ms: number, look: () => void): void {
    this.#world.time.after(ms, () => {
      look();
      this.#every(ms, look);
    });
  }
}
