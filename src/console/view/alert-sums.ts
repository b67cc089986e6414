import type { DecisionCard } from "../../wire/console-decision.ts";
import type { AlertSums } from "../../wire/console-view.ts";

const namesMax = 50;

/** Firing alerts by name, or why nobody knows. */
export type AlertsSeen = { readonly counts: Readonly<Record<string, number>> } | { readonly why: string };

/** The guard's edge to alerts: `alert NAME`, or `12 alerts NAME`. */
const alertEdge = /^(?:alert|(\d+) alerts) (\S+)$/u;

/**
 * How many alerts fire, and how many of them the causes of open Decisions explain: those that the guard linked by its
 * rules. Both Decisions of one cause link the same alerts, so the most of each name counts, not the sum.
 */
export function alertSums(
  seen: AlertsSeen,
  open: readonly DecisionCard[],
  hasTopic: (name: string) => boolean,
): AlertSums {
  if ("why" in seen) return { why: seen.why, names: [] };
  const linked = linkedAlerts(open);
  const names = Object.entries(seen.counts).map(([name, firing]) => ({
    name,
    firing,
    explained: Math.min(firing, linked.get(name) ?? 0),
    ...(hasTopic(name) ? { hasTopic: true as const } : {}),
  }));
  const left = ({ firing, explained }: { firing: number; explained: number }): number => firing - explained;
  return {
    firing: names.reduce((sum, { firing }) => sum + firing, 0),
    explained: names.reduce((sum, { explained }) => sum + explained, 0),
    why: "",
    names: names.toSorted((one, two) => left(two) - left(one) || two.firing - one.firing).slice(0, namesMax),
  };
}

function linkedAlerts(open: readonly DecisionCard[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const { chain } of open) {
    const own = new Map<string, number>();
    for (const { effect, rule } of chain) {
      const [, count = "1", name] = rule.startsWith("Alert") ? (alertEdge.exec(effect) ?? []) : [];
      if (name !== undefined) own.set(name, (own.get(name) ?? 0) + Number(count));
    }
    for (const [name, count] of own) most.set(name, Math.max(count, most.get(name) ?? 0));
  }
  return most;
}
