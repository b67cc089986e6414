import type { Decision } from "../../../guard/decision/decision.ts";
import type { AskedItem } from "../../../guard/decision/asked-item.ts";
import { textBlock } from "./markdown.ts";

/** What a person was asked to clear, by hand. */
export function askedItems({ steps }: Pick<Decision["spec"], "steps">): readonly AskedItem[] {
  return steps.flatMap((step) => (step.action === "AskPerson" ? step.askPerson.items : []));
}

/** The nodes that waited for a reboot, as the evidence names them: `NODE: CODE since …`. */
export function lateNodes({ evidence }: Pick<Decision["spec"], "evidence">): readonly string[] {
  return evidence.flatMap(({ detail }) => /^([^:\s]+): /u.exec(detail)?.[1] ?? []);
}

/** What blocked, how that kept the nodes from their reboot, and what they lack for it. */
export function rebootChain(spec: Decision["spec"]): string {
  const nodes = lateNodes(spec).join(", ");
  return textBlock([
    ...askedItems(spec).map(({ since, what, object }) => `since ${since}: ${what} (${object})`),
    "→ the reboot gate denies, and everything that asks it waits",
    `→ ${nodes === "" ? "the nodes" : nodes} cannot be rebooted, and run what the updates were to replace`,
  ]);
}
