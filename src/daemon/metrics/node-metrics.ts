import { version } from "../../base/version.ts";
import { phaseOf } from "../answer/answers.ts";
import { registerAdmission } from "./admission-metrics.ts";
import { registerPodMetrics } from "./pod-metrics.ts";
import { registerProcess } from "./process-metrics.ts";
import type { MetricsRegistry } from "./metrics-registry.ts";
import type { Ports } from "../ports.ts";

/** The gauges of the daemon's own parts, read when somebody asks. */
export function registerNodeMetrics(metrics: MetricsRegistry, ports: Ports, nodeName: string): void {
  const { journal, recovery, offline, clock } = ports;
  metrics.gauge("levee_build_info", "Always 1; the version is in the label", () => [{ labels: { version }, value: 1 }]);
  registerAdmission(metrics, ports);
  metrics.gauge("levee_attachments", "Pod sandboxes in the journal by phase", () => phases(ports));
  metrics.gauge("levee_leaks", "What could not be undone yet", () => journal.stats().leaks);
  metrics.gauge("levee_stale_sandbox_reservations", "Sandboxes that the runtime was told it cannot remove yet", () => [
    { labels: { node: nodeName }, value: refusedSandboxes(ports) },
  ]);
  metrics.gauge("levee_offline_deletes", "Deletes that shims wrote down and that are not done", () => offline.waiting);
  metrics.gauge("levee_quarantined", "Damaged records that were put aside", () => journal.stats().quarantined);
  metrics.gauge("levee_resident_hands", "Resident hands that are connected", () => recovery.residents.length);
  metrics.gauge("levee_journal_bytes", "Size of the journal's file", () => journal.stats().logBytes);
  metrics.gauge("levee_journal_live_bytes", "How much of it is still needed", () => journal.stats().liveBytes);
  metrics.counted("levee_journal_records_total", "Records written since the start", () => journal.stats().written);
  metrics.gauge("levee_ready", "1 when /readyz answers 200", () => (ports.checks.isReady ? 1 : 0));
  metrics.gauge("levee_check_failed", "Checks that fail or warn, by name", () =>
    ports.checks
      .all()
      .filter(({ state }) => state !== "ok")
      .map(({ name, state }) => ({ labels: { check: name, severity: state }, value: 1 })),
  );
  registerPodMetrics(metrics, ports);
  registerProcess(metrics, clock);
}

/** While DEL fails the runtime keeps the sandbox and its name, and a pod that needs the name cannot start. */
function refusedSandboxes({ journal }: Ports): number {
  const refused = journal.all().filter(({ delAttempts }) => delAttempts > 0);
  return new Set(refused.map(({ containerId }) => containerId)).size;
}

const phaseNames = ["attaching", "undoing", "attached", "detaching", "lost"] as const;

function phases(ports: Ports): readonly { readonly labels: { readonly phase: string }; readonly value: number }[] {
  const counts = new Map<string, number>();
  for (const record of ports.journal.all()) {
    const phase = phaseOf(record, ports);
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  return phaseNames.map((phase) => ({ labels: { phase }, value: counts.get(phase) ?? 0 }));
}
