import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Check } from "../../readiness/check.ts";
import { tracesCheck } from "../../readiness/traces-rule.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Timeline } from "../record/timeline.ts";
import { CollectorAccess, type CollectorFiles } from "./collector-access.ts";
import { Collector } from "./collector.ts";
import { TraceExporter } from "./trace-exporter.ts";
import { TracedDoors } from "./traced-doors.ts";
import { CallTraces } from "./call-traces.ts";

interface OpenTracesNeeds {
  readonly endpoint: string;
  readonly files: CollectorFiles;
  readonly oneIn: number;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly checks: { add(read: () => readonly Check[]): void };
  readonly next: Timeline;
}

export interface OpenTraces {
  readonly traces: CallTraces;
  readonly doors: TracedDoors;
}

/** This file and all below it are loaded late, so that a daemon without a collector does not carry them. */
export function openTraces(needs: OpenTracesNeeds): OpenTraces {
  const collector = new Collector(needs.endpoint, new CollectorAccess(needs.files), needs.clock);
  const exporter = new TraceExporter({ ...needs, collector });
  needs.checks.add(() => [tracesCheck(exporter.facts())]);
  const traces = new CallTraces({ ...needs, exporter });
  return { traces, doors: new TracedDoors(traces) };
}
