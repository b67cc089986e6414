import type { DaemonMetrics } from "../cluster/daemon-metrics.ts";
import { metricOf } from "../../wire/metric-lines.ts";
import { valueOr } from "../cluster/seen.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { codesText, exceptionWords } from "./gate-table.ts";
import { gateView } from "./gate-view.ts";

/** A node that waits for a reboot, by its own mark or by its gate. */
export interface WaitingNode {
  readonly node: string;
  readonly sinceMs: number;
  /** What the gate says; undefined where there is none. */
  readonly verdict?: "Allow" | "Deny";
  /** `FiringAlert ×3`; empty where nothing is in the way, or nobody says what. */
  readonly reasons: string;
  /** Whose exceptions let alerts pass, and until when. */
  readonly exceptions?: string;
}

/** Those that have waited longest come first. */
export function rebootBacklog({ gates, nowMs }: Snapshot, { nodes }: DaemonMetrics): readonly WaitingNode[] {
  const dueMs = new Map<string, number>();
  for (const [node, seen] of nodes) {
    const metrics = valueOr(seen, []);
    const sinceSeconds = metricOf(metrics, "levee_node_reboot_required_since_timestamp_seconds") ?? nowMs / 1_000;
    if (metricOf(metrics, "levee_node_reboot_required") === 1) dueMs.set(node, sinceSeconds * 1_000);
  }
  const known = new Map(valueOr(gates, []).map((gate) => [gate.node, gate]));
  for (const { node, rebootRequiredSinceMs } of known.values())
    if (rebootRequiredSinceMs !== undefined && !dueMs.has(node)) dueMs.set(node, rebootRequiredSinceMs);
  return [...dueMs]
    .map(([node, sinceMs]): WaitingNode => {
      const gate = known.get(node);
      if (gate === undefined) return { node, sinceMs, reasons: "" };
      const view = gateView(node, gate, nowMs);
      const exceptions = exceptionWords(view);
      const verdict = { verdict: view.verdict, reasons: codesText(view) };
      return { node, sinceMs, ...verdict, ...(exceptions === "" ? {} : { exceptions }) };
    })
    .toSorted((left, right) => left.sinceMs - right.sinceMs);
}

/** `, blocked by FiringAlert ×3`. */
export function gateWords({ verdict, reasons, exceptions }: WaitingNode): string {
  const passing = exceptions === undefined ? "" : `, ${exceptions}`;
  if (verdict === "Allow") return `, allowed now${passing}`;
  return `${reasons === "" ? "" : `, blocked by ${reasons}`}${passing}`;
}
