import type { DecisionCard } from "../../wire/console-decision.ts";
import type { AlertSums, ConsoleSource, NodeCell, NowLine, NowReason, RebootLine } from "../../wire/console-view.ts";
import { counted } from "./counted.ts";

export interface NowFacts {
  readonly nodes: readonly NodeCell[];
  readonly waiting: number;
  /** Those that have waited for longer than a start takes. */
  readonly stuck: number;
  readonly cards: readonly DecisionCard[];
  readonly reboots: readonly RebootLine[];
  readonly alerts: AlertSums;
  readonly sources: readonly ConsoleSource[];
  /** Undefined where no guard is installed, or nobody knows. */
  readonly isLed: boolean | undefined;
}

/** Does anything need a person, and why: in the order in which a person should look. */
export function nowLine(facts: NowFacts): NowLine {
  const reasons = [
    ...decisionReasons(facts),
    ...guardReasons(facts),
    ...nodeReasons(facts),
    ...stormReasons(facts),
    ...rebootReasons(facts),
    ...sourceReasons(facts),
  ].toSorted((left, right) => Number(right.state === "act") - Number(left.state === "act"));
  const acts = reasons.filter(({ state }) => state === "act");
  if (acts.length > 0) return { state: "act", text: sentence(acts), reasons };
  if (reasons.length > 0)
    return { state: "watch", text: `Nothing needs a person; ${lowered(sentence(reasons))}`, reasons };
  return { state: "well", text: "Nothing needs a person", reasons };
}

/** The first reason, and how many more there are. */
function sentence([first, ...more]: readonly NowReason[]): string {
  const text = first?.text ?? "";
  return more.length === 0 ? text : `${text}, and ${more.length} more`;
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function decisionReasons({ cards }: NowFacts): readonly NowReason[] {
  const waiting = cards.filter(({ needsPerson }) => needsPerson);
  const running = cards.filter(({ isOpen, needsPerson }) => isOpen && !needsPerson);
  return [
    ...waiting.map((card): NowReason => ({
      state: "act",
      text: `${card.name} ${card.phase === "Paused" ? "is paused and waits" : "waits"} for a person`,
      code: card.phase,
      command: card.command,
      part: "decisions",
    })),
    ...running.map((card): NowReason => ({
      state: "watch",
      text: `${card.name} is ${card.phase}`,
      code: card.phase,
      command: card.command,
      part: "decisions",
    })),
  ];
}

function guardReasons({ isLed }: NowFacts): readonly NowReason[] {
  if (isLed !== false) return [];
  return [
    { state: "act", text: "No guard leads", code: "LeveeGuardAbsent", command: "levee status", part: "decisions" },
  ];
}

function nodeReasons({ nodes }: NowFacts): readonly NowReason[] {
  const failed = nodes.filter(({ state }) => state === "failed");
  const down = failed.filter(({ isReady }) => isReady === false).length;
  const killed = failed.filter(({ kills = 0 }) => kills > 0).length;
  const leaking = nodes.filter(({ leaks = 0 }) => leaks > 0).length;
  const one = (
    count: number,
    text: string,
    more: Pick<NowReason, "state" | "code" | "command">,
  ): readonly NowReason[] => (count === 0 ? [] : [{ ...more, text, part: "nodes" }]);
  return [
    ...one(down, `${counted(down, "node")} not ready`, { state: "act", code: "", command: "kubectl get nodes" }),
    ...one(killed, `CNI daemons were killed for memory on ${counted(killed, "node")}`, {
      state: "act",
      code: "MultusOOMLoop",
      command: "levee status",
    }),
    ...one(leaking, `Leaks on ${counted(leaking, "node")}`, {
      state: "watch",
      code: "LeveeLeaksGrowing",
      command: "levee leaks",
    }),
  ];
}

function stormReasons({ waiting, stuck }: NowFacts): readonly NowReason[] {
  if (stuck > 0) {
    const text = `${counted(stuck, "pod")} without a network for more than 5 min`;
    return [{ state: "act", text, code: "NamespacePendingPodBacklog", command: "levee status", part: "storm" }];
  }
  if (waiting === 0) return [];
  const text = `${counted(waiting, "pod")} without a network yet`;
  return [{ state: "watch", text, code: "", command: "levee top", part: "storm" }];
}

function rebootReasons({ reboots }: NowFacts): readonly NowReason[] {
  if (reboots.length === 0) return [];
  const denied = reboots.filter(({ verdict }) => verdict === "Deny").length;
  const held = denied === 0 ? "" : `, ${denied} kept from it by the gate`;
  const text = `A reboot is due on ${counted(reboots.length, "node")}${held}`;
  return [{ state: "watch", text, code: "KuredRebootBacklog", command: "levee gate list", part: "reboots" }];
}

function sourceReasons({ sources, alerts }: NowFacts): readonly NowReason[] {
  const stale = sources.filter(({ state }) => state === "stale").map(({ name }) => name);
  const unexplained = (alerts.firing ?? 0) - (alerts.explained ?? 0);
  return [
    ...(stale.length === 0
      ? []
      : [
          {
            state: "watch" as const,
            text: `Old facts about ${stale.join(", ")}`,
            code: "",
            command: "levee check",
            part: "sources" as const,
          },
        ]),
    ...(unexplained === 0
      ? []
      : [
          {
            state: "watch" as const,
            text: `${counted(unexplained, "alert")} that no cause explains`,
            code: "",
            command: "levee status",
            part: "decisions" as const,
          },
        ]),
  ];
}
