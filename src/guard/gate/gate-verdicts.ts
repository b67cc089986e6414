import type { GateReason } from "../../wire/gate-codes.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { NodeFacts } from "../facts/world.ts";
import type { GateFacts } from "./gate-facts.ts";
import { reasonsToDeny } from "./gate-rules.ts";
import { inTurn } from "./gate-turn.ts";
import { exceptionsInForce } from "./reasons/firing-alert.ts";
import { heardMsMax } from "./reasons/node-unheard.ts";

/** The gates as last read, by node. */
export type GatesBefore = ReadonlyMap<string, RebootGate>;

/**
 * The gates that should stand now: one for each node that waits for a reboot, for each that a person allowed, and for
 * each that had one and cannot be asked. Pure.
 */
export function gateVerdicts(facts: GateFacts, before: GatesBefore): readonly RebootGate[] {
  const waiting = [...facts.nodes.values()].filter((node) => isGated(node, facts, before));
  if (waiting.length === 0) return [];
  const exceptions = exceptionsInForce(facts)
    .slice(0, wordsMax)
    .map(({ name, by, reason, untilMs }) => ({ name, by, reason, untilMs }));
  const gates = waiting.map((node) => gateOf(node, facts, before.get(node.name)));
  return inTurn(gates, facts).map((gate) => withTimes({ ...gate, exceptions }, facts, before.get(gate.node)));
}

/** The definition takes no more. */
const wordsMax = 32;

/** The gates of a guard that does not know the cluster: none is Allow, and none is taken away. */
export function blindVerdicts(
  before: GatesBefore,
  { nowMs, settings }: Pick<GateFacts, "nowMs" | "settings">,
): readonly RebootGate[] {
  return [...before.values()].map((gate) => {
    const reason: GateReason = {
      code: "GuardBlind",
      message: "the guard cannot follow the cluster and decides nothing",
      sinceMs: gate.reasons.find(({ code }) => code === "GuardBlind")?.sinceMs ?? nowMs,
      object: "Guard",
      remedy: "the guard's log says which resource it cannot read; its alert is LeveeBlind",
    };
    const { allowedSinceMs: _, override: __, ...rest } = gate;
    return {
      ...rest,
      verdict: "Unknown",
      reasons: [reason],
      exceptions: [],
      observedAtMs: nowMs,
      expiresAtMs: nowMs + settings.expiryMs,
    };
  });
}

function isGated({ name }: NodeFacts, { nodeViews, overrides, nowMs }: GateFacts, before: GatesBefore): boolean {
  const view = nodeViews.get(name);
  const isHeard = view?.isRebootRequired !== undefined && nowMs - view.atMs <= heardMsMax;
  if (overrides.has(name) || view?.isRebootRequired === true) return true;
  return before.has(name) && !isHeard;
}

type Judged = Omit<RebootGate, "observedAtMs" | "expiresAtMs" | "exceptions">;

function gateOf(node: NodeFacts, facts: GateFacts, before: RebootGate | undefined): Judged {
  const { name } = node;
  const dueMs = facts.nodeViews.get(name)?.rebootRequiredSinceMs ?? before?.rebootRequiredSinceMs;
  const word = facts.overrides.get(name);
  const reasons = reasonsToDeny(node, facts);
  return {
    node: name,
    verdict: word === undefined ? verdictOf(reasons) : "Allow",
    reasons,
    ...(dueMs === undefined ? {} : { rebootRequiredSinceMs: dueMs }),
    ...(word === undefined
      ? {}
      : { override: { name: word.name, by: word.by, reason: word.reason, untilMs: word.untilMs } }),
  };
}

function verdictOf(reasons: readonly GateReason[]): RebootGate["verdict"] {
  if (reasons.length === 0) return "Allow";
  return reasons.every(({ code }) => code === "NodeUnheard") ? "Unknown" : "Deny";
}

/** A reason keeps the time at which it was first given, and an Allow never stands longer than the override behind it. */
function withTimes(
  gate: Judged & Pick<RebootGate, "exceptions">,
  { nowMs, settings }: GateFacts,
  before: RebootGate | undefined,
): RebootGate {
  const { expiryMs } = settings;
  const untilMs = gate.override?.untilMs ?? Number.POSITIVE_INFINITY;
  const allowedSinceMs = before?.verdict === "Allow" ? before.allowedSinceMs : undefined;
  return {
    ...gate,
    reasons: gate.reasons.map((reason) => ({ ...reason, sinceMs: firstGivenMs(reason, before) })),
    observedAtMs: nowMs,
    expiresAtMs: Math.max(nowMs + 1_000, Math.min(nowMs + expiryMs, untilMs)),
    ...(gate.verdict === "Allow" ? { allowedSinceMs: allowedSinceMs ?? nowMs } : {}),
  };
}

function firstGivenMs({ code, object, sinceMs }: GateReason, before: RebootGate | undefined): number {
  const earlier = before?.reasons.find((one) => one.code === code && one.object === object);
  return Math.min(sinceMs, earlier?.sinceMs ?? sinceMs);
}
