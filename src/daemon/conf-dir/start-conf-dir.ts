import { failed, passed, warned, type Check } from "../../readiness/check.ts";
import { isInForce, type ConfDirFacts } from "./conf-dir-facts.ts";
import type { Service } from "../service.ts";
import type { NodeChecks } from "../health/node-checks.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { ConfDir } from "./conf-dir.ts";

export async function startConfDir(
  confDir: ConfDir,
  { metrics, checks }: { readonly metrics: MetricsRegistry; readonly checks: NodeChecks },
): Promise<Service> {
  metrics.counted(
    "levee_conf_writes_total",
    "Writes of the runtime's conf; the runtime reloads all its confs at each one",
    () => confDir.facts().writes,
  );
  checks.add(() => [confCheck(confDir.facts())]);
  await confDir.start();
  return confDir;
}

/** Without its conf in force, a node silently gives new pods only the primary network. */
export function confCheck(facts: ConfDirFacts): Check {
  const warnings = facts.problems.filter(({ severity }) => severity !== "note");
  const detail = warnings.map(({ message }) => message).join("; ");
  const hint = warnings.flatMap(({ remedy }) => (remedy === "" ? [] : [remedy])).join("; ");
  if (!isInForce(facts))
    return failed("conf", `${facts.path} is not in force (${facts.state}): ${detail || "it is being put back"}`, hint);
  if (warnings.some(({ severity }) => severity === "failure")) return failed("conf", detail, hint);
  return warnings.length === 0 ? passed("conf", `${facts.path} is in force`) : warned("conf", detail, hint);
}
