import { isObject, objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { countOf, timeText } from "../../json-values.ts";

/** Limits on removals. The first one paces; the daily ones open a breaker that only a person closes. */
interface BudgetLimits {
  readonly podsPerMinute: number;
  readonly podsPerNamespacePerDay: number;
  readonly podsPerDay: number;
}

/**
 * The guard removes an outage of 219 pods within two minutes; each removal is a CNI DEL and a few API writes. The daily
 * limits allow ten such outages in one namespace and twenty in all: more means that the detector is wrong.
 */
export const defaultBudgetLimits: BudgetLimits = {
  podsPerMinute: 120,
  podsPerNamespacePerDay: 2_000,
  podsPerDay: 4_000,
};

/** The removals of the last 24 hours. Kept in the cluster, so that the next leader continues from them. */
export interface RemovalBudget {
  /** Pods by hour since 1970 and by namespace. */
  readonly hours: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** The current minute since 1970. */
  readonly minute: number;
  /** Pods removed in that minute. */
  readonly inMinute: number;
  /** Why removals have stopped; empty while the breaker is closed. */
  readonly breaker: string;
  /** When the breaker opened; 0 while it is closed, or when unknown. */
  readonly openedMs: number;
}

export const emptyBudget: RemovalBudget = { hours: {}, minute: 0, inMinute: 0, breaker: "", openedMs: 0 };

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayHours = 24;

export type Spending =
  /** This many may be removed now. `budget` already counts them and must be stored first. */
  | { readonly verdict: "Go"; readonly pods: number; readonly budget: RemovalBudget }
  | { readonly verdict: "Wait"; readonly waitMs: number }
  /** No more removals; `budget` must be stored. */
  | { readonly verdict: "Open"; readonly why: string; readonly budget: RemovalBudget };

/** Asks to remove some pods of a namespace. The answer may grant fewer, never more. */
export function spend(
  before: RemovalBudget,
  asked: { readonly namespace: string; readonly pods: number; readonly nowMs: number },
  limits: BudgetLimits,
): Spending {
  const { namespace, nowMs } = asked;
  if (before.breaker !== "") return { verdict: "Open", why: before.breaker, budget: before };
  const budget = forgetOld(before, nowMs);
  const why = exceeded(budget, asked, limits);
  if (why !== undefined) {
    const breaker = `${why}, at ${timeText(nowMs)}`;
    return { verdict: "Open", why: breaker, budget: { ...budget, breaker, openedMs: nowMs } };
  }
  const pods = Math.min(asked.pods, limits.podsPerMinute - budget.inMinute);
  if (pods <= 0) return { verdict: "Wait", waitMs: minuteMs - (nowMs % minuteMs) };
  return { verdict: "Go", pods, budget: counted(budget, namespace, pods, nowMs) };
}

/** A person has looked and allows more: the daily counts start again. */
export function resetBreaker(budget: RemovalBudget): RemovalBudget {
  return { ...emptyBudget, minute: budget.minute, inMinute: budget.inMinute };
}

/** Notes for a proposal: the limits, how much of them is used, and whether the breaker is open. */
export function budgetNotes(budget: RemovalBudget, limits: BudgetLimits, nowMs: number): readonly string[] {
  const used = removedIn(forgetOld(budget, nowMs));
  const line = `The guard removes at most ${limits.podsPerMinute} pods a minute, ${limits.podsPerNamespacePerDay} a day in one namespace and ${limits.podsPerDay} in all; ${used} in the last day`;
  return budget.breaker === ""
    ? [line]
    : [`The breaker is open, and the guard removes nothing until a person closes it: ${budget.breaker}`, line];
}

export function printBudget(budget: RemovalBudget): string {
  return JSON.stringify(budget);
}

/** An unreadable text may hide today's removals, so it opens the breaker. No text means a new cluster. */
export function parseBudget(text: string | undefined): RemovalBudget {
  if (text === undefined) return emptyBudget;
  const value = parseJson(text);
  if (!isObject(value) || !isObject(value["hours"]))
    return { ...emptyBudget, breaker: "the record of earlier removals cannot be read" };
  const hours = Object.entries(value["hours"]).map(([hour, byNamespace]) => [
    hour,
    Object.fromEntries(Object.entries(objectOf(byNamespace)).map(([name, count]) => [name, countOf(count)])),
  ]);
  return {
    hours: Object.fromEntries(hours) as RemovalBudget["hours"],
    minute: countOf(value["minute"]),
    inMinute: countOf(value["inMinute"]),
    breaker: textOf(value["breaker"]),
    openedMs: countOf(value["openedMs"]),
  };
}

function exceeded(
  budget: RemovalBudget,
  { namespace, pods }: { readonly namespace: string; readonly pods: number },
  limits: BudgetLimits,
): string | undefined {
  const here = removedIn(budget, namespace) + pods;
  if (here > limits.podsPerNamespacePerDay)
    return `${here} pods of ${namespace} in a day would be more than ${limits.podsPerNamespacePerDay}`;
  const all = removedIn(budget) + pods;
  return all > limits.podsPerDay ? `${all} pods in a day would be more than ${limits.podsPerDay}` : undefined;
}

function removedIn({ hours }: RemovalBudget, namespace?: string): number {
  return Object.values(hours)
    .flatMap((byNamespace) => Object.entries(byNamespace))
    .filter(([name]) => namespace === undefined || name === namespace)
    .reduce((sum, [, count]) => sum + count, 0);
}

/** A sliding window: midnight resets nothing. */
function forgetOld(budget: RemovalBudget, nowMs: number): RemovalBudget {
  const oldest = Math.floor(nowMs / hourMs) - dayHours;
  const hours = Object.entries(budget.hours).filter(([hour]) => Number(hour) >= oldest);
  const minute = Math.floor(nowMs / minuteMs);
  return {
    ...budget,
    hours: Object.fromEntries(hours),
    minute,
    inMinute: budget.minute === minute ? budget.inMinute : 0,
  };
}

function counted(budget: RemovalBudget, namespace: string, pods: number, nowMs: number): RemovalBudget {
  const hour = String(Math.floor(nowMs / hourMs));
  const before = budget.hours[hour] ?? {};
  const byNamespace = { ...before, [namespace]: (before[namespace] ?? 0) + pods };
  return { ...budget, hours: { ...budget.hours, [hour]: byNamespace }, inMinute: budget.inMinute + pods };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
