import type { NodeFacts } from "../../facts/world.ts";
import { gateSummary, type RebootGate } from "../../../wire/reboot-gate.ts";

/** Per look; an open gate changes its annotation once a minute. */
const changesPerLookMax = 40;

export interface AnnotationChange {
  readonly node: string;
  /** Null takes it away. */
  readonly to: string | null;
}

/** The annotations to change so that they say what these gates say. What does not open goes first. */
export function annotationChanges(
  nodes: readonly NodeFacts[],
  gates: ReadonlyMap<string, RebootGate>,
  allowed: ReadonlySet<string>,
): readonly AnnotationChange[] {
  const changes: AnnotationChange[] = [];
  for (const { name, gateAnnotation: is } of nodes) {
    const to = textOf(gates.get(name), allowed.has(name));
    if (to !== is) changes.push({ node: name, to: to ?? null });
  }
  const opens = ({ to }: AnnotationChange): number => (to?.startsWith("allow") === true ? 1 : 0);
  return changes.toSorted((left, right) => opens(left) - opens(right)).slice(0, changesPerLookMax);
}

function textOf(gate: RebootGate | undefined, isAllowed: boolean): string | undefined {
  if (gate === undefined) return undefined;
  const until = new Date(gate.expiresAtMs).toISOString().replace(/\.\d+Z$/u, "Z");
  return isAllowed ? `allow until ${until}` : `deny ${gateSummary(gate)}`.trim();
}
