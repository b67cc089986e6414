import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { kubeStatusOf, metadataOnly, type KubeApi, type KubeRequest } from "../../kube/client/api.ts";
import { gatesPath, gateSummary, rebootGateObject, type RebootGate } from "../../wire/reboot-gate.ts";
import { standingVerdict } from "../../wire/standing-verdict.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { BootWatch } from "./boot-watch.ts";
import { BudgetPods } from "./budget-pods.ts";
import { gateAnnotation } from "../facts/gate-annotation.ts";
import { annotationChanges } from "./doors/annotation-door.ts";
import { LeaseDoor } from "./doors/lease-door.ts";
import { labelChanges, labelPatch, type DoorChange } from "./doors/label-door.ts";
import type { GateFacts } from "./gate-facts.ts";
import { gateFactsOf } from "./gate-facts-of.ts";
import type { GateObjects } from "./gate-objects.ts";
import type { GateSettings } from "./gate-settings.ts";
import { blindVerdicts, gateVerdicts, type GatesBefore } from "./gate-verdicts.ts";
import { gateWrites, type GateWrite } from "./gate-writes.ts";
import { TurnBook } from "./turn-book.ts";

/** Whoever leads. */
export interface GateTerm {
  readonly identity: string;
  readonly fence: number;
  isHeld(): boolean;
}

interface GateKeeperOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: GuardSettings;
  readonly gate: GateSettings;
  readonly facts: { isCurrent(): boolean; world(): World; policies(): readonly PolicyObject[] };
  readonly objects: GateObjects;
}

/** How the last look went, for the metrics. */
export interface LookReport {
  /** When it ended, on the monotonic clock. */
  readonly endedMs: number;
  readonly tookMs: number;
  readonly outcome: "done" | "blind";
  /** Since the process started. */
  readonly failedWrites: number;
  readonly looks: number;
}

const requestMs = 5_000;
/** Then the API server is away or refuses everything, and the guard's own round must not wait for that. */
const failuresPerLookMax = 3;
const mergePatch = "application/merge-patch+json";
/** The drop-in for Multus has its pods here. */
const dropInNamespace = "kube-system";

/** Looks in every round of the leader which nodes may be rebooted, writes it down, and opens and closes the doors. */
export class GateKeeper {
  readonly #options: GateKeeperOptions;
  readonly #boots = new BootWatch();
  readonly #turns = new TurnBook();
  readonly #budgetPods: BudgetPods;
  readonly #leases: LeaseDoor;
  #report: LookReport | undefined;
  #failedWrites = 0;
  #looks = 0;

  constructor(options: GateKeeperOptions) {
    this.#options = options;
    this.#budgetPods = new BudgetPods(options);
    this.#leases = new LeaseDoor(options);
  }

  /** Undefined before the first look, on a guard that never led. */
  get report(): LookReport | undefined {
    return this.#report;
  }

  /** One look. A write that fails is counted and tried again in the next one: until then the gate closes by itself. */
  async look(term: GateTerm): Promise<void> {
    const { clock, facts, objects, gate: settings } = this.#options;
    const startedMs = clock.monotonicMs();
    const before = objects.gates();
    const isBlind = !facts.isCurrent() || !objects.isCurrent();
    const wanted = isBlind ? blindVerdicts(before, { nowMs: clock.wallMs(), settings }) : await this.#judge(before);
    const written = new Set<string>();
    const failedBefore = this.#failedWrites;
    const goesOn = (): boolean => this.#failedWrites - failedBefore < failuresPerLookMax;
    for (const write of gateWrites(wanted, before, clock.wallMs()))
      if (goesOn() && (await this.#write(write, term))) written.add(write.gate.node);
    if (goesOn()) await this.#doors(wanted, written, term);
    this.#looks += 1;
    this.#report = {
      endedMs: clock.monotonicMs(),
      tookMs: clock.monotonicMs() - startedMs,
      outcome: isBlind ? "blind" : "done",
      failedWrites: this.#failedWrites,
      looks: this.#looks,
    };
  }

  async #judge(before: GatesBefore): Promise<readonly RebootGate[]> {
    const { clock, facts, objects, gate, settings, logger } = this.#options;
    const world = facts.world();
    const rebootedMs = this.#boots.look(world.nodes, world.nowMs);
    const isQuiet = before.size === 0 && !world.nodeViews.some(({ isRebootRequired }) => isRebootRequired === true);
    if (isQuiet && objects.overrides().length === 0) return [];
    const shutBudgets = objects.shutBudgets();
    const budgetPods = await this.#budgetPods.podsOf(shutBudgets).catch((thrown: unknown) => {
      // Unknown pods may be on any node, so this closes the gate.
      const { message } = toLeveeError(thrown, "Cannot ask for the pods of a PodDisruptionBudget");
      logger.warn("Cannot tell which pods a PodDisruptionBudget covers", { error: message });
      return new Map<string, readonly string[]>();
    });
    const judged: GateFacts = gateFactsOf({
      // Asking for budgets took time.
      world: { ...facts.world(), nowMs: clock.wallMs() },
      settings: gate,
      cniDaemons: settings.cniDaemons,
      policies: facts.policies(),
      exceptions: objects.exceptions(),
      overrides: objects.overrides(),
      shutBudgets,
      budgetPods,
      replicas: objects.replicas(),
      rebootedMs,
      turns: this.#turns.begin(before),
    });
    const wanted = gateVerdicts(judged, before);
    this.#turns.note(wanted, judged.nowMs);
    return wanted;
  }

  async #write(write: GateWrite, term: GateTerm): Promise<boolean> {
    const { gate, kind } = write;
    const path = `${gatesPath}/${encodeURIComponent(gate.node)}`;
    const object = rebootGateObject(gate, term);
    const done =
      kind === "remove"
        ? await this.#call({ method: "DELETE", path, deadlineMs: requestMs }, term)
        : kind === "create"
          ? await this.#call(
              { method: "POST", path: gatesPath, body: JSON.stringify(object), deadlineMs: requestMs },
              term,
            )
          : await this.#call(
              { method: "PATCH", path, body: withNulls(object), contentType: mergePatch, deadlineMs: requestMs },
              term,
            );
    if (done) this.#tell(write);
    return done;
  }

  #tell({ gate, kind }: GateWrite): void {
    const { logger, objects } = this.#options;
    if (kind === "remove") logger.info("Removed a reboot gate", { node: gate.node });
    else if (objects.gate(gate.node)?.verdict !== gate.verdict)
      logger.info("Changed a reboot gate", { node: gate.node, verdict: gate.verdict, why: gateSummary(gate) });
  }

  /** Opens a door only for a verdict that the API server has, and closes all others. */
  async #doors(wanted: readonly RebootGate[], written: ReadonlySet<string>, term: GateTerm): Promise<void> {
    const { doors } = this.#options.gate;
    const allowed = this.#allowed(wanted, written);
    if (doors.includes("label")) await this.#label(allowed, term);
    if (doors.includes("annotation")) await this.#annotate(wanted, allowed, term);
    if (doors.includes("lease")) await this.#lease(wanted, allowed, term);
  }

  #allowed(wanted: readonly RebootGate[], written: ReadonlySet<string>): ReadonlySet<string> {
    const { clock, objects } = this.#options;
    const nowMs = clock.wallMs();
    return new Set(
      wanted
        .filter(({ verdict, node }) => {
          const isStanding = written.has(node) || standingVerdict(node, objects.gate(node), nowMs).isAllowed;
          return verdict === "Allow" && isStanding;
        })
        .map(({ node }) => node),
    );
  }

  async #annotate(wanted: readonly RebootGate[], allowed: ReadonlySet<string>, term: GateTerm): Promise<void> {
    const gates = new Map(wanted.map((gate) => [gate.node, gate]));
    for (const { node, to } of annotationChanges(this.#options.facts.world().nodes, gates, allowed)) {
      const path = `/api/v1/nodes/${encodeURIComponent(node)}`;
      const body = JSON.stringify({ metadata: { annotations: { [gateAnnotation]: to } } });
      await this.#call({ method: "PATCH", path, body, contentType: mergePatch, deadlineMs: requestMs }, term);
    }
  }

  async #lease(wanted: readonly RebootGate[], allowed: ReadonlySet<string>, term: GateTerm): Promise<void> {
    const held = new Set(wanted.map(({ node }) => node).filter((node) => !allowed.has(node)));
    await this.#leases
      .hold(held, () => term.isHeld())
      .catch((thrown: unknown) => this.#failed("/apis/coordination.k8s.io", thrown));
  }

  async #label(allowed: ReadonlySet<string>, term: GateTerm): Promise<void> {
    const { facts, settings, logger } = this.#options;
    const changes = labelChanges(facts.world().pods, allowed, [settings.namespace, dropInNamespace]);
    for (const change of changes)
      if (await this.#call(labelRequest(change), term))
        logger.info("Changed a label of the reboot gate", { node: change.node, pod: change.name, to: change.to });
  }

  /** False when it was not done: lost the lead, changed meanwhile, or refused. A refusal must not end the guard. */
  async #call(request: KubeRequest, term: GateTerm): Promise<boolean> {
    if (!term.isHeld()) return false;
    try {
      await this.#options.api.call({ accept: metadataOnly, ...request });
      return true;
    } catch (thrown) {
      if ([404, 409].includes(kubeStatusOf(thrown) ?? 0)) return false;
      this.#failed(request.path, thrown);
      return false;
    }
  }

  #failed(path: string, thrown: unknown): void {
    this.#failedWrites += 1;
    const { message } = toLeveeError(thrown, "Cannot write");
    this.#options.logger.warn("Cannot write for the reboot gate", { path, error: message });
  }
}

function labelRequest(change: DoorChange): KubeRequest {
  const namespace = encodeURIComponent(change.namespace);
  const path = `/api/v1/namespaces/${namespace}/pods/${encodeURIComponent(change.name)}`;
  return { method: "PATCH", path, body: labelPatch(change), contentType: mergePatch, deadlineMs: requestMs };
}

/** In a merge patch null takes a field away. */
function withNulls(object: object): string {
  return JSON.stringify(object, (_key, value: unknown) => (value === undefined ? null : value));
}
