import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { parseRebootGate, type RebootGate } from "../../wire/reboot-gate.ts";
import { terminalPhases, type DecisionPhase } from "../../guard/decision/decision.ts";
import { isInWindow } from "../../guard/gate/reboot-window.ts";
import { isNodeReady } from "./cluster-life.ts";
import type { GuardWorld } from "./guard-world.ts";

/** A reason against a reboot that is true, since when, and how old a guard's knowledge of it may be. */
interface StandingReason {
  readonly what: string;
  readonly sinceMs: number;
  readonly ageMsMax: number;
}

/** A copy may be older than the server by this much before the guard counts as blind. */
const watchAgeMs = 80_000;
/** An Alertmanager is asked every half minute, and counts as unread after a minute and a half. */
const alertAgeMs = 100_000;
/** A daemon that is silent for so long counts as unheard. */
const heardAgeMs = 155_000;
/** A guard looks every ten seconds, and knows the time. */
const windowAgeMs = 15_000;
/** As long as a verdict stands. */
export const expiryMs = 120_000;
const backlogMin = 10;
const lateMs = 60_000;

/** What really speaks against the reboot of each node, by the cluster itself and not by what a guard has seen. */
export class GateTruth {
  readonly #world: GuardWorld;
  readonly #sinceMs = new Map<string, number>();

  constructor(world: GuardWorld) {
    this.#world = world;
  }

  /** Called every few seconds. */
  look(nowMs: number): void {
    const now = new Map([...this.#present()].map((what) => [what, this.#sinceMs.get(what) ?? nowMs]));
    this.#sinceMs.clear();
    for (const [what, sinceMs] of now) this.#sinceMs.set(what, sinceMs);
  }

  /** What has spoken against this node for longer than a guard may be behind, at this moment. */
  against(node: string, atMs: number, moreMs: number): StandingReason | undefined {
    this.look(this.#world.time.nowMs);
    return [...this.#sinceMs]
      .filter(([what]) => !what.endsWith(` of ${node}`) || what.startsWith("silence"))
      .filter(([what]) => !what.startsWith("silence") || what.endsWith(` of ${node}`))
      .map(([what, sinceMs]) => ({ what, sinceMs, ageMsMax: ageOf(what) }))
      .find(({ sinceMs, ageMsMax }) => atMs - sinceMs > ageMsMax + moreMs);
  }

  /** The gate of a node as the server has it. */
  gate(node: string): RebootGate | undefined {
    return parseRebootGate(this.#world.api.get("rebootgates", `/${node}`));
  }

  *#ofNodes(): Generator<string> {
    const { api, fleet, time, nodes } = this.#world;
    for (const node of nodes) {
      if (!isNodeReady(api.get("nodes", `/${node}`))) yield `not Ready of ${node}`;
      if (fleet.isCordoned(node)) yield `cordon of ${node}`;
      if (fleet.silent.has(node)) yield `silence of ${node}`;
      if (backlogOf(api.objects("pods"), node, time.wallMs) >= backlogMin) yield `backlog on ${node}`;
    }
  }

  *#present(): Generator<string> {
    const { api, fleet, time, reboots } = this.#world;
    const { window } = reboots.gate;
    if (window !== undefined && !isInWindow(window, time.wallMs)) yield "window closed";
    yield* this.#ofNodes();
    for (const alert of fleet.alerts.keys()) yield `alert ${alert}`;
    if (fleet.isAlertmanagerAway) yield "Alertmanager away";
    for (const decision of api.objects("decisions")) if (isOpenTrouble(decision)) yield `Decision ${nameOf(decision)}`;
  }
}

function ageOf(what: string): number {
  if (what.startsWith("alert") || what.startsWith("Alertmanager")) return alertAgeMs;
  if (what.startsWith("window")) return windowAgeMs;
  return what.startsWith("silence") ? heardAgeMs : watchAgeMs;
}

function isOpenTrouble(decision: JsonObject): boolean {
  const phase = textOf(objectOf(decision["status"])["phase"]) as DecisionPhase;
  const { cause } = objectOf(decision["spec"]);
  return !terminalPhases.has(phase) && cause !== "RebootBacklog" && cause !== "ReservedSandboxNames";
}

function backlogOf(pods: readonly JsonObject[], node: string, wallMs: number): number {
  return pods.filter((pod) => {
    const { deletionTimestamp, creationTimestamp } = objectOf(pod["metadata"]);
    const isWaiting = objectOf(pod["status"])["phase"] === "Pending" && deletionTimestamp === undefined;
    return (
      isWaiting && objectOf(pod["spec"])["nodeName"] === node && wallMs - Date.parse(textOf(creationTimestamp)) > lateMs
    );
  }).length;
}

function nameOf(object: JsonObject): string {
  return textOf(objectOf(object["metadata"])["name"]);
}
