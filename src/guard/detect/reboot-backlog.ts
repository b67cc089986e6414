import type { GateCode, GateReason } from "../../wire/gate-codes.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { World } from "../facts/world.ts";

/** As the alert KuredRebootBacklog. */
const rebootLateMs = 86_400_000;
/** A reason that comes and goes within this time is not what blocks a node for a day. */
const standsMs = 3_600_000;
/** They end by themselves: the window opens, the other node is done. */
const passing: ReadonlySet<GateCode> = new Set<GateCode>(["OutsideWindow", "WaitsForTurn", "OtherNodeRebooted"]);

/** Nodes that have waited for their reboot for over a day, and what the gate holds against it. One for the cluster. */
export interface RebootBacklog {
  readonly cause: "RebootBacklog";
  readonly namespace: "";
  readonly shape: typeof rebootSubject;
  /** Longest first. */
  readonly waiting: readonly LateNode[];
  /** When the first of them got its mark. */
  readonly sinceMs: number;
  /** Each counts once. */
  readonly nodes: ReadonlyMap<string, number>;
}

const rebootSubject = "nodes that wait for a reboot";

export interface LateNode {
  readonly node: string;
  /** Since when it has its mark. */
  readonly sinceMs: number;
  /** What has stood against its reboot for an hour. */
  readonly reasons: readonly GateReason[];
}

export function findRebootBacklog({ rebootGates = [], nowMs }: World): RebootBacklog | undefined {
  const waiting = rebootGates
    .flatMap((gate) => lateNode(gate, nowMs))
    .toSorted((left, right) => left.sinceMs - right.sinceMs || (left.node < right.node ? -1 : 1));
  const [first] = waiting;
  if (first === undefined) return undefined;
  return {
    cause: "RebootBacklog",
    namespace: "",
    shape: rebootSubject,
    waiting,
    sinceMs: first.sinceMs,
    nodes: new Map(waiting.map(({ node }) => [node, 1])),
  };
}

/** Less strict than the proposal: a gate that opens for a moment does not end it. */
export function isRebootLate({ rebootGates, nowMs }: World): boolean {
  // Unknown is not gone.
  if (rebootGates === undefined) return true;
  return rebootGates.some(
    ({ rebootRequiredSinceMs, allowedSinceMs, verdict }) =>
      rebootRequiredSinceMs !== undefined &&
      nowMs - rebootRequiredSinceMs >= rebootLateMs &&
      (verdict !== "Allow" || nowMs - (allowedSinceMs ?? nowMs) < standsMs),
  );
}

/** Whether one more node has become late since then. */
export function isLateSince({ waiting }: RebootBacklog, thenMs: number): boolean {
  return waiting.some(({ sinceMs }) => sinceMs + rebootLateMs > thenMs);
}

export function rebootText({ waiting }: RebootBacklog): string {
  const names = waiting.length === 1 ? `Node ${waiting[0]?.node}` : `${waiting.length} nodes`;
  return `${names} ${waiting.length === 1 ? "has" : "have"} waited for a reboot for over a day`;
}

function lateNode({ node, verdict, reasons, rebootRequiredSinceMs }: RebootGate, nowMs: number): LateNode[] {
  if (verdict === "Allow" || rebootRequiredSinceMs === undefined) return [];
  if (nowMs - rebootRequiredSinceMs < rebootLateMs) return [];
  const firm = reasons.filter(({ code, sinceMs }) => !passing.has(code) && nowMs - sinceMs >= standsMs);
  return firm.length === 0 ? [] : [{ node, sinceMs: rebootRequiredSinceMs, reasons: firm }];
}
