import type { ConsoleNodeStory } from "../../wire/console-story.ts";
import type { NodeCell } from "../../wire/console-view.ts";
import type { ChecksAnswer, NodeAnswer } from "../../wire/node-view.ts";

/** What a node's daemon said of itself when it was asked for everything. */
interface NodeSaid {
  readonly node: Pick<NodeAnswer, "software" | "notices">;
  readonly checks: Pick<ChecksAnswer, "checks" | "networks">;
}

export function nodeStoryOf(cell: NodeCell, said: NodeSaid | undefined, command: string): ConsoleNodeStory {
  if (said === undefined) return { cell, software: "", checks: [], networks: [], notices: [], command };
  const { node, checks } = said;
  return {
    cell,
    software: node.software,
    checks: checks.checks,
    networks: checks.networks.map(({ network, state, reasons }) => ({ network, state, why: reasons.join(", ") })),
    notices: node.notices,
    command,
  };
}
