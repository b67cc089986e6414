import { cpus, hostname, loadavg, release, totalmem } from "node:os";
import type { Clock } from "../../../base/clock.ts";
import { software } from "../../../base/version.ts";
import type { MachineFacts } from "./certificate.ts";
import { findCgroupLayout } from "../machine/cgroup-layout.ts";
import type { StormPlan } from "../plan.ts";
import { readAheadOf } from "../machine/read-ahead.ts";

/** What a reader must know to judge the numbers. */
export function machineFacts(clock: Clock, plan: Pick<StormPlan, "workDir" | "readAheadKib">): MachineFacts {
  const processors = cpus();
  const { kib: nodeReadAheadKib } = readAheadOf(plan.workDir);
  return {
    levee: software,
    wallMs: clock.wallMs(),
    host: hostname(),
    kernel: release(),
    cores: processors.length,
    processor: processors[0]?.model.trim() ?? "unknown",
    memoryBytes: totalmem(),
    readAheadKib: plan.readAheadKib ?? nodeReadAheadKib,
    nodeReadAheadKib,
    hasOwnDisk: plan.readAheadKib !== undefined,
    cgroupVersion: findCgroupLayout()?.version,
    load: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}
