import { firstChars } from "../../base/short-text.ts";
import { chainEdgesMax } from "../decision/limits.ts";
import type { CauseEdge } from "../decision/decision.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { AlertFacts, World } from "../facts/world.ts";
import { alertRules, type AlertRule } from "./alert-rules.ts";
import { causeText, membersOf, type Cause } from "./cause.ts";
import { causeRules, isSymptom } from "./cause-rules.ts";
import { foreignText } from "./foreign-text.ts";
import { findSymptoms, symptomText, type Symptom } from "./symptoms.ts";

/** The API server allows 253. */
const nameCharsMax = 253;
/** The CRD's limit; two names of full length exceed it. */
const edgeCharsMax = 512;

/** The effects of a cause, and the alerts it does not explain. */
export interface CauseChain {
  /** From the cause outwards. Alerts with one name and one target share an edge that has their count. */
  readonly edges: readonly CauseEdge[];
  /** How many edges did not fit into a Decision. */
  readonly omitted: number;
  readonly linked: readonly Symptom[];
  /** Firing alerts that this cause does not explain. */
  readonly unlinkedAlerts: readonly AlertFacts[];
}

/** Links symptoms and alerts to the cause by closed lists of rules. Everything else stays unlinked. */
export function causeChainOf(cause: Cause, world: World, settings: GuardSettings): CauseChain {
  const { edges, linked } = linkSymptoms(cause, othersThan(cause, findSymptoms(world, settings)));
  const alerts = linkAlerts(world.alerts, [cause, ...linked], { cause, settings });
  const all = [...edges, ...alerts.edges];
  return {
    edges: all.slice(0, chainEdgesMax),
    omitted: Math.max(0, all.length - chainEdgesMax),
    linked,
    unlinkedAlerts: alerts.unlinked,
  };
}

/** A workload that is stuck because it is the cause itself is no effect of it. */
function othersThan(cause: Cause, symptoms: readonly Symptom[]): readonly Symptom[] {
  if (cause.cause !== "RunawayWorkload") return symptoms;
  const own = new Set(membersOf(cause).map(({ uid }) => uid));
  return symptoms.filter(
    (symptom) => symptom.kind !== "WorkloadStuck" || !symptom.workload.pods.some(({ uid }) => own.has(uid)),
  );
}

/** Breadth first: each symptom gets the first rule that reaches it from something already linked. */
function linkSymptoms(
  cause: Cause,
  symptoms: readonly Symptom[],
): { readonly edges: readonly CauseEdge[]; readonly linked: readonly Symptom[] } {
  const edges: CauseEdge[] = [];
  const linked: Symptom[] = [];
  const open = new Set(symptoms);
  const front: (Cause | Symptom)[] = [cause];
  for (let from = front.shift(); from !== undefined; from = front.shift()) {
    for (const to of [...open]) {
      const source = from;
      const rule = causeRules.find(({ follows }) => follows(source, to, cause));
      if (rule === undefined) continue;
      open.delete(to);
      linked.push(to);
      front.push(to);
      edges.push({ cause: textOf(from), effect: textOf(to), rule: rule.name, why: rule.why });
    }
  }
  return { edges, linked };
}

interface AlertScope {
  readonly cause: Cause;
  readonly settings: GuardSettings;
}

function linkAlerts(
  alerts: readonly AlertFacts[],
  things: readonly (Cause | Symptom)[],
  scope: AlertScope,
): { readonly edges: readonly CauseEdge[]; readonly unlinked: readonly AlertFacts[] } {
  const groups = new Map<string, { thing: Cause | Symptom; rule: AlertRule; name: string; count: number }>();
  const unlinked: AlertFacts[] = [];
  for (const alert of alerts) {
    const link = isOfThisTime(alert, scope) ? linkOf(alert, things) : undefined;
    if (link === undefined) {
      unlinked.push(alert);
      continue;
    }
    const key = `${link.rule.name}\n${alert.name}\n${things.indexOf(link.thing)}`;
    const group = groups.get(key) ?? { ...link, name: alert.name, count: 0 };
    group.count += 1;
    groups.set(key, group);
  }
  const edges = [...groups.values()].map(({ thing, rule, name, count }) => ({
    cause: textOf(thing),
    effect: `${count === 1 ? "alert" : `${count} alerts`} ${foreignText(name, nameCharsMax)}`,
    rule: rule.name,
    why: rule.why,
  }));
  return { edges, unlinked };
}

function linkOf(
  alert: AlertFacts,
  things: readonly (Cause | Symptom)[],
): { readonly thing: Cause | Symptom; readonly rule: AlertRule } | undefined {
  for (const rule of alertRules) {
    if (!rule.alerts.test(alert.name)) continue;
    const thing = things.find((one) => rule.tellsOf(alert, one));
    if (thing !== undefined) return { thing, rule };
  }
  return undefined;
}

/** An alert of another cluster, or from before the cause began, has another cause. */
function isOfThisTime({ labels, startsMs }: AlertFacts, { cause, settings }: AlertScope): boolean {
  const cluster = labels["cluster"] ?? "";
  if (cluster !== "" && settings.cluster !== "" && cluster !== settings.cluster) return false;
  return startsMs >= cause.sinceMs;
}

function textOf(thing: Cause | Symptom): string {
  return firstChars(isSymptom(thing) ? symptomText(thing) : causeText(thing), edgeCharsMax);
}
