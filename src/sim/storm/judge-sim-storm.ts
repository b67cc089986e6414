import { waitMs } from "./pod-wait.ts";
import type { SimNodeEnd, SimPodRecord, SimStormEnd } from "./sim-storm-end.ts";

/** Says what did not hold, by the conditions of `levee storm`. */
export function judgeSimStorm(facts: Omit<SimStormEnd, "broken">): SimStormEnd {
  return { ...facts, broken: facts.isInterrupted ? [] : brokenTexts(facts) };
}

function brokenTexts({ plan, records, nodes }: Omit<SimStormEnd, "broken">): readonly string[] {
  const wanted = records.filter(({ pod }) => pod.mustRun);
  const missing = wanted.filter(({ attachedMs }) => attachedMs === undefined);
  const waited = (record: SimPodRecord): number => waitMs(record, plan.faults) ?? 0;
  const late = wanted.filter((record) => !record.pod.isCritical && waited(record) > plan.timeoutMs);
  const critical = wanted.filter((record) => record.pod.isCritical && waited(record) > plan.criticalWithinMs);
  const killed = nodes.filter(({ oomKills }) => oomKills > 0);
  const leaking = nodes.filter(({ leaks }) => leaks > 0);
  const longestMs = Math.max(0, ...critical.map(waited));
  return [
    ...said(
      missing.length > 0,
      `${missing.length} of ${wanted.length} pods were not attached within ${seconds(plan.timeoutMs)}`,
    ),
    ...said(late.length > 0, `${late.length} pods waited longer than ${seconds(plan.timeoutMs)}`),
    ...said(
      critical.length > 0,
      `${critical.length} critical ${critical.length === 1 ? "pod" : "pods"} waited longer than ${seconds(plan.criticalWithinMs)}, the longest ${seconds(longestMs)}`,
    ),
    ...said(
      killed.length > 0,
      `the kernel killed ${daemonsText(killed)} for memory, ${times(sum(killed, "oomKills"))}`,
    ),
    ...said(
      leaking.length > 0,
      `${sum(leaking, "leaks")} addresses were left behind on ${leaking.length === 1 ? (leaking[0]?.name ?? "") : `${leaking.length} nodes`}`,
    ),
  ];
}

function said(isSo: boolean, text: string): readonly string[] {
  return isSo ? [text] : [];
}

function seconds(ms: number): string {
  return ms >= 60_000 && ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Number((ms / 1_000).toPrecision(3))}s`;
}

function daemonsText(nodes: readonly SimNodeEnd[]): string {
  return nodes.length === 1 ? `the daemon of ${nodes[0]?.name ?? ""}` : `the daemons of ${nodes.length} nodes`;
}

function sum(nodes: readonly SimNodeEnd[], key: "oomKills" | "leaks"): number {
  return nodes.reduce((total, node) => total + node[key], 0);
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
