import type { GateReason } from "../../../wire/gate-codes.ts";
import type { AskedItem } from "../../decision/asked-item.ts";
import type { RebootBacklog, LateNode } from "../../detect/reboot-backlog.ts";
import { timeText } from "../../json-values.ts";
import { evidenceOf } from "../evidence.ts";
import { kubectl } from "../kubectl-lines.ts";
import { askStep } from "./ask-step.ts";
import type { PlanContent, SeenCause } from "./make-proposal.ts";

/** A disk or a replica takes its time. */
const askSeconds = 86_400;
const hourMs = 3_600_000;

/** What blocks each node's reboot, since when, and how to clear it. The gate itself stays as it is. */
export function rebootPlan(seen: SeenCause<RebootBacklog>): PlanContent {
  const { cause, world } = seen;
  const { waiting, sinceMs } = cause;
  const items = itemsOf(waiting);
  const codes = [...new Set(waiting.flatMap(({ reasons }) => reasons.map(({ code }) => code)))];
  return {
    purpose: "ByHand",
    drafts: [
      askStep({
        about: "Reboots",
        title: `Wait until a person has cleared what blocks the reboot of ${waiting.length === 1 ? waiting[0]?.node : `${waiting.length} nodes`}`,
        items,
        kubectl: [kubectl("get", "rebootgates", "-o", "wide")],
        done: "None of these reasons stands any more, or the nodes were rebooted",
        deadlineSeconds: askSeconds,
      }),
    ],
    notes: [
      "This Decision changes no gate and does not itself keep a node from its reboot",
      "What a site can live with goes on the exception list: levee gate except. For one node and a short time: levee gate allow NODE --for 30m --reason …",
    ],
    story: [
      `: the reboot gate keeps ${waiting.length === 1 ? "it" : "them"} from it`,
      `The first got its mark at ${timeText(sinceMs)}. What blocks: ${codes.join(", ")}`,
    ],
    evidence: evidenceOf(
      [
        ["nodes that wait for a reboot", waiting.length],
        ...waiting
          .slice(0, 20)
          .map((one) => ["hours for which it has waited", hours(world.nowMs - one.sinceMs), whyText(one)] as const),
      ],
      seen,
    ),
  };
}

/** One reason that blocks several nodes is cleared once, so it is one item. */
function itemsOf(waiting: readonly LateNode[]): readonly AskedItem[] {
  const found = new Map<string, { reason: GateReason; nodes: string[] }>();
  for (const { node, reasons } of waiting)
    for (const reason of reasons) {
      const key = `${reason.code}\n${reason.object}`;
      const known = found.get(key) ?? { reason, nodes: [] };
      known.nodes.push(node);
      found.set(key, known);
    }
  return [...found.values()].map(({ reason: { code, object, message, sinceMs, remedy }, nodes }) => ({
    object,
    node: nodes.length === 1 ? (nodes[0] ?? "") : "",
    uid: "",
    what: `${code}: ${message}${nodes.length === 1 ? "" : ` (${nodes.length} nodes)`}`,
    since: timeText(sinceMs),
    line: remedy,
  }));
}

function whyText({ node, reasons }: LateNode): string {
  return `${node}: ${reasons.map(({ code, sinceMs }) => `${code} since ${timeText(sinceMs)}`).join(", ")}`;
}

function hours(ms: number): number {
  return Math.floor(ms / hourMs);
}
