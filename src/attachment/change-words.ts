import type { NetworkChange } from "./network-changes.ts";
import { networkNameOf } from "./selection-element.ts";

/** A change in words, which tell it apart from all others of the pod. */
export function changeWords({ leaving, joining }: NetworkChange): string {
  const parts = leaving.map(({ network, ifname }) => `detach ${network} (${ifname})`);
  if (joining !== undefined) parts.push(`attach ${networkNameOf(joining.element)} as ${joining.ifname}`);
  return parts.join(" and ");
}

/** What the pod's event says about a change that failed. */
export function failedChangeText(change: NetworkChange, reason: string): string {
  return `${failedStart}${changeWords(change)}: ${reason}`;
}

/** The same for an annotation that cannot be read. */
export function unchangedText(reason: string): string {
  return `${unchangedStart}${reason}`;
}

interface ChangePart {
  readonly verb: "attach" | "detach";
  readonly network: string;
  readonly ifname: string;
}

/** What an event says has failed; undefined when it is everything. */
export function failedParts(text: string): readonly ChangePart[] | undefined {
  if (text.startsWith(unchangedStart)) return undefined;
  if (!text.startsWith(failedStart)) return [];
  const [words = ""] = text.slice(failedStart.length).split(": ", 1);
  return words.split(" and ").flatMap((part): readonly ChangePart[] => {
    const [, joins, as, leaves, from] = /^(?:attach (\S+) as (\S+)|detach (\S+) \((\S+)\))$/u.exec(part) ?? [];
    if (joins !== undefined && as !== undefined) return [{ verb: "attach", network: joins, ifname: as }];
    return leaves === undefined || from === undefined ? [] : [{ verb: "detach", network: leaves, ifname: from }];
  });
}

const failedStart = "Could not ";
const unchangedStart = "The pod's networks stay as they are: ";
