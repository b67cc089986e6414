import type { Broken } from "../story/invariants.ts";
import type { RebootEnd } from "./reboot-end.ts";

/** Says what did not hold: rules that were broken, and nodes that waited too long. */
export function judgeReboots(facts: Omit<RebootEnd, "broken">, rules: readonly Broken[]): RebootEnd {
  return { ...facts, broken: [...ruleTexts(rules), ...(facts.isInterrupted ? [] : waitTexts(facts))] };
}

/** One text for each rule: the first time, and how often after that. */
function ruleTexts(rules: readonly Broken[]): readonly string[] {
  const byRule = Map.groupBy(rules, ({ rule }) => rule);
  return [...byRule].map(([rule, [first, ...more]]) => {
    const times = more.length === 1 ? "once more" : `${more.length} more times`;
    const again = more.length === 0 ? "" : `, and ${times}`;
    return `the rule ${rule} was broken: ${first?.text ?? ""}${again}`;
  });
}

function waitTexts({ plan, records }: Omit<RebootEnd, "broken">): readonly string[] {
  const within = `${Number((plan.withinMs / 60_000).toPrecision(4))} min`;
  const missing = records.filter(({ backMs }) => backMs === undefined);
  const late = records.filter(({ dueMs, backMs = dueMs }) => backMs - dueMs > plan.withinMs);
  return [
    ...(missing.length === 0
      ? []
      : [
          `${missing.length} of ${records.length} nodes were not rebooted within ${within}, such as ${missing[0]?.node}`,
        ]),
    ...(late.length === 0
      ? []
      : [`${late.length} of ${records.length} nodes waited longer than ${within}, such as ${late[0]?.node}`]),
  ];
}
