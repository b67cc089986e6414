import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { LintNetwork } from "../lint-objects.ts";
import { nearestKey } from "../nearest-key.ts";
import type { UnreadNetwork } from "../read-network.ts";
import { shownValue } from "../shown-value.ts";

/** A network whose configuration cannot be read, or is not where it should be. */
export function unreadRule(network: LintNetwork, unread: UnreadNetwork): LintFinding {
  const { config, isConfigNoText, specKeys = [] } = network;
  const isMissing = config === undefined && !isConfigNoText;
  const key = specKeys.find((each) => each !== "config" && nearestKey(each, ["config"]) !== undefined);
  if (!isMissing || key === undefined) return lintFinding(unread.code, network, unread);
  return lintFinding("LVN0301", network, {
    message: `spec does not know the key ${shownValue(key)}, so it has no configuration`,
    remedy: 'did you mean "config"?',
    spot: { on: "field", path: ["spec", key] },
  });
}
