import { sameJson } from "../../base/same-json.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { LintNetwork } from "../lint-objects.ts";

interface Edit {
  /** As the cluster has it. */
  readonly before: LintNetwork;
  /** As it will be. */
  readonly after: LintNetwork;
  /** Running pods that have it, `namespace/name`. */
  readonly pods: readonly string[];
}

/** A network whose configuration changes while pods use it. White space and the order of keys change nothing. */
export function editRule({ before, after, pods }: Edit): readonly LintFinding[] {
  if (pods.length === 0 || isSameConfig(before.config, after.config)) return [];
  const message = `${podsText(pods)} and ${pods.length === 1 ? "keeps" : "keep"} the old configuration until restarted`;
  return [lintFinding("LVN0703", after, { message, spot: { on: "field", path: ["spec", "config"] } })];
}

function isSameConfig(left: string | undefined, right: string | undefined): boolean {
  if (left === right) return true;
  const [one, other] = [parsed(left), parsed(right)];
  return one !== undefined && other !== undefined && sameJson(one, other);
}

function parsed(config: string | undefined): unknown {
  try {
    return config === undefined ? undefined : (JSON.parse(config) as unknown);
  } catch {
    return undefined; // two texts that are no JSON are the same only letter by letter
  }
}

/** Name at most three pods. */
const namedMax = 3;

function podsText(pods: readonly string[]): string {
  const more = pods.length - namedMax;
  const named = pods.slice(0, namedMax).join(", ");
  return `${named}${more > 0 ? ` and ${more} more pods` : ""} ${pods.length === 1 ? "uses" : "use"} it`;
}
