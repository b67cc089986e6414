/**
 * `ok`: as before. `look`: as with Multus, but a person should look. `differs`: works, but not as with Multus.
 * `blocks`: something would break; do the remedy first.
 */
export type Level = "ok" | "look" | "differs" | "blocks";

export const findingTopics = ["multus", "settings", "other users of Multus", "networks", "pods"] as const;
type FindingTopic = (typeof findingTopics)[number];

/** One finding of `levee migrate --check`. */
export interface Finding {
  readonly topic: FindingTopic;
  readonly level: Level;
  /** The object, such as `DaemonSet kube-system/kube-multus-ds`, or several. */
  readonly object: string;
  readonly what: string;
  /** What to do about it; empty if there is nothing to do. */
  readonly remedy: string;
}

/** Joins equal findings about several objects, so that a thousand pods need one line. */
export function aggregated(findings: readonly Finding[]): readonly Finding[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.topic, finding.level, finding.what, finding.remedy]);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [
          {
            ...first,
            object: objectsText(
              first.object,
              others.map(({ object }) => object),
            ),
          },
        ],
  );
}

/** Names a few, counts the rest. */
function objectsText(first: string, others: readonly string[]): string {
  const shown = [first, ...others.slice(0, namedMax - 1)].join(", ");
  const rest = others.length - (namedMax - 1);
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** Name at most three objects in a line. */
const namedMax = 3;
