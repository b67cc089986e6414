import type { MemoryCalm } from "../facts/memory-calm.ts";
import type { AlertFacts, GitFileFacts, GitSourceProblem, NodeViewFacts, World } from "../facts/world.ts";

/** Facts that do not come from the API server. Each source answers at once with what it has. */
export interface OtherSources {
  readonly alerts: () => readonly AlertFacts[];
  /** Why the alerts cannot be told, where an Alertmanager is set. */
  readonly alertsUnread?: () => string | undefined;
  readonly nodeViews: () => readonly NodeViewFacts[];
  readonly gitFiles: () => readonly GitFileFacts[];
  readonly gitProblems?: () => readonly GitSourceProblem[];
  readonly rebootGates?: () => World["rebootGates"];
  readonly memoryCalms: () => readonly MemoryCalm[] | undefined;
  readonly memoryOfPrometheus?: () => Pick<World, "memoryPasts" | "memoryUses">;
  /** Texts about the limits and the breaker. */
  readonly notes: () => readonly string[];
}
