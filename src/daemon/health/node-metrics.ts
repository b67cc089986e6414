import { version } from "../../base/version.ts";
import { registerAdmission } from "../metrics/admission-metrics.ts";
import { registerPodMetrics } from "../metrics/pod-metrics.ts";
import { registerProcess } from "../metrics/process-metrics.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Admission } from "../../admission/admission.ts";
import type { Clock } from "../../base/clock.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { View } from "../../view/view.ts";
import type { NodeChecks } from "./node-checks.ts";

interface NodeMetricsNeeds {
  readonly clock: Clock;
  readonly nodeName: string;
  readonly journal: Pick<Journal, "all" | "stats">;
  readonly admission: Pick<Admission, "facts">;
  readonly checks: NodeChecks;
  readonly view: Pick<View, "pods">;
  readonly phaseOf: (record: AttachmentRecord) => (typeof phaseNames)[number];
  readonly offlineDeletes: () => number;
  readonly residentHands: () => number;
}

export function registerNodeMetrics(metrics: MetricsRegistry, needs: NodeMetricsNeeds): void {
  const { journal, clock, nodeName, checks } = needs;
  metrics.gauge("levee_build_info", "Always 1; the version is in the label", () => [{ labels: { version }, value: 1 }]);
  registerAdmission(metrics, needs);
  metrics.gauge("levee_attachments", "Pod sandboxes in the journal by phase", () => phases(needs));
  metrics.gauge("levee_leaks", "Leaks: attachments that could not be undone yet", () => journal.stats().leaks);
  metrics.gauge("levee_stale_sandbox_reservations", "Sandboxes whose last DEL was answered with an error", () => [
    { labels: { node: nodeName }, value: refusedSandboxes(journal) },
  ]);
  metrics.gauge(
    "levee_offline_deletes",
    "Deletes that shims wrote down while the daemon was away and that are not done yet",
    () => needs.offlineDeletes(),
  );
  metrics.gauge(
    "levee_quarantined",
    "Damaged records in quarantine of the last day",
    () => journal.stats().quarantined,
  );
  metrics.gauge("levee_resident_hands", "Resident hands that are connected", () => needs.residentHands());
  metrics.gauge("levee_journal_bytes", "Size of the journal's file", () => journal.stats().logBytes);
  metrics.gauge(
    "levee_journal_live_bytes",
    "Bytes of the journal's file that are still needed",
    () => journal.stats().liveBytes,
  );
  metrics.gauge(
    "levee_journal_unwritten",
    "Entries of the journal that are only in memory, because the disk refused them",
    () => journal.stats().unwritten,
  );
  metrics.counted("levee_journal_records_total", "Records written since the start", () => journal.stats().written);
  metrics.gauge("levee_ready", "1 when /readyz answers 200", () => (checks.isReady ? 1 : 0));
  metrics.gauge("levee_check_failed", "Checks that fail or warn, by name", () =>
    checks
      .all()
      .filter(({ state }) => state !== "ok")
      .map(({ name, state }) => ({ labels: { check: name, severity: state }, value: 1 })),
  );
  registerPodMetrics(metrics, needs);
  registerProcess(metrics, clock);
}

/** While DEL fails, the runtime keeps the sandbox and its name, so a pod that needs the name cannot start. */
function refusedSandboxes(journal: Pick<Journal, "all">): number {
  const refused = journal.all().filter(({ delAttempts }) => delAttempts > 0);
  return new Set(refused.map(({ containerId }) => containerId)).size;
}

const phaseNames = ["attaching", "undoing", "attached", "detaching", "lost"] as const;

function phases({
  journal,
  phaseOf,
}: NodeMetricsNeeds): readonly { readonly labels: { readonly phase: string }; readonly value: number }[] {
  const counts = new Map<string, number>();
  for (const record of journal.all()) {
    const phase = phaseOf(record);
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  return phaseNames.map((phase) => ({ labels: { phase }, value: counts.get(phase) ?? 0 }));
}
