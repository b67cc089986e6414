import { dirname } from "node:path";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { LintNetwork, LintPlace } from "../lint-objects.ts";

const spot = { on: "field", path: ["metadata", "name"] } as const;

/** Two definitions of one namespace and name in the files. A cluster has each once. */
export function repeatRule(networks: readonly LintNetwork[]): readonly LintFinding[] {
  const firsts = new Map<string, LintPlace>();
  return networks.flatMap((network) => {
    // The API server makes up a name that is not there.
    if (network.name === "") return [];
    const place = network.locate(spot);
    const first = firsts.get(network.title);
    if (first === undefined) firsts.set(network.title, place);
    if (first === undefined || isSamePlace(first, place)) return [];
    const message = `it is also in ${first.file}:${first.line}, and the one that is applied last replaces the other`;
    // Two folders may be of two clusters.
    const severity = dirname(first.file) === dirname(place.file) ? "warning" : "note";
    return [lintFinding("LVN0104", network, { message, spot, severity })];
  });
}

/** Two kustomizations may have one base. */
function isSamePlace(first: LintPlace, second: LintPlace): boolean {
  return first.file === second.file && first.line === second.line && first.column === second.column;
}
