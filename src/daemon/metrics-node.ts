import type { AdmissionFacts } from "../admission/facts.ts";
import { readFileSync } from "node:fs";
import { version } from "../base/version.ts";
import type { MetricsRegistry } from "./metrics-registry.ts";
import type { Ports } from "./ports.ts";
import { phaseOf } from "./answers.ts";

/** The gauges of the daemon's own parts, read when somebody asks. */
export function registerNodeMetrics(metrics: MetricsRegistry, ports: Ports): void {
  const { journal, admission, recovery } = ports;
  metrics.gauge("levee_build_info", "Always 1; the version is in the label", () => [{ labels: { version }, value: 1 }]);
  metrics.gauge("levee_running", "Calls that hold a slot", () => [
    { labels: { kind: "attach" }, value: admission.facts().attaching },
    { labels: { kind: "detach" }, value: admission.facts().detaching },
  ]);
  metrics.gauge("levee_waiting", "Calls that wait for a slot", () => [
    { labels: { kind: "attach" }, value: attachWaiting(admission.facts()) },
    { labels: { kind: "detach" }, value: admission.facts().waiting.detach ?? 0 },
  ]);
  metrics.gauge("levee_attachments", "Pod sandboxes in the journal by phase", () => phases(ports));
  metrics.gauge("levee_leaks", "What could not be undone yet", () => journal.stats().leaks);
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
  registerProcess(metrics);
}

function registerProcess(metrics: MetricsRegistry): void {
  metrics.gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  metrics.gauge("levee_anonymous_memory_bytes", "Memory that no file backs: what the limit is for", anonymousBytes);
  metrics.counted("process_cpu_seconds_total", "User and system time", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
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

function anonymousBytes(): number {
  const match = /^RssAnon:\s+(\d+) kB$/mu.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(match?.[1] ?? 0) * 1_024;
}

function attachWaiting({ waiting }: AdmissionFacts): number {
  return (waiting.critical ?? 0) + (waiting.ordinary ?? 0) + (waiting.penalty ?? 0);
}
