import { configKey } from "../config-key.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { LintNetwork } from "../lint-objects.ts";
import { podsUseIt, type NamedPods } from "../named-pods.ts";

interface Edit {
  /** As the cluster has it. */
  readonly before: LintNetwork;
  /** As it will be. */
  readonly after: LintNetwork;
  /** Running pods that have it, `namespace/name`. */
  readonly pods: readonly string[];
}

/** A network whose configuration changes while pods use it. */
export function editRule({ before, after, pods }: Edit): readonly LintFinding[] {
  if (pods.length === 0 || configKey(before.config) === configKey(after.config)) return [];
  const message = changedText({ count: pods.length, first: pods });
  return [lintFinding("LVN0703", after, { message, spot: { on: "field", path: ["spec", "config"] } })];
}

export function changedText(pods: NamedPods): string {
  return `${podsUseIt(pods)} and ${pods.count === 1 ? "keeps" : "keep"} the old configuration until restarted`;
}

export function deletedText(pods: NamedPods): string {
  return `${podsUseIt(pods)} and cannot start again without it`;
}
