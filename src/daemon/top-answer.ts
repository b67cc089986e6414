import type { AdmissionFacts } from "../admission/facts.ts";
import type { OwnMemory } from "../admission/own-memory.ts";
import type { MemoryView, SlotsView, TopAnswer } from "../wire/top-view.ts";
import type { NodeFacts } from "./node-facts.ts";
import { readLoad } from "./own-load.ts";
import { openOf } from "./pod-now.ts";

/** A screen has few lines. */
const rowsMax = 20;
const noticesMax = 5;

/** The node at this moment. The few files about load are read for it; all else is in memory. */
export async function topAnswer(facts: NodeFacts): Promise<TopAnswer> {
  const { ports, nodeName, software, startedWallMs } = facts;
  const load = await readLoad("/");
  const admission = ports.admission.facts();
  const { cpu, memory, io } = load.pressure;
  return {
    nodeName,
    software,
    wallMs: ports.clock.wallMs(),
    monotonicMs: Math.round(ports.clock.monotonicMs()),
    startedWallMs,
    attachments: ports.journal.all().length,
    leaks: ports.journal.leaks().length,
    quarantined: ports.journal.quarantined().length,
    classes: admission.classes.map((row) => ({ ...row, oldestWaitMs: Math.round(row.oldestWaitMs) })),
    slots: slotsOf(admission),
    flows: admission.flows,
    heldPods: admission.heldPods,
    hung: ports.hung.all(),
    openNetworks: openOf(admission, ports).slice(0, rowsMax),
    delegates: ports.pulse.delegates(),
    memory: memoryOf(load.ownMemory, admission),
    pressure: {
      ...(cpu === undefined ? {} : { cpu: cpu.some }),
      ...(memory === undefined ? {} : { memory: memory.some }),
      ...(io === undefined ? {} : { io: io.some }),
    },
    failures: ports.pulse.failures,
    totals: ports.pulse.totals,
    notices: facts.notices().slice(0, noticesMax),
  };
}

function slotsOf(admission: AdmissionFacts): SlotsView {
  const { attaching, limit, ceiling, detaching, detachCeiling, hung } = admission;
  return { attaching, limit, ceiling, detaching, detachCeiling, hung, why: limitReason(admission) };
}

/** Why no more ADDs run at once than this. */
export function limitReason(facts: AdmissionFacts): string {
  const { ownMemory, pressure, limit, ceiling, isSlowStart, delegateBytes, delegateBytesMax } = facts;
  if (ownMemory === "exhausted") return "the daemon's own memory is nearly used up: only DELs are served";
  if (ownMemory === "frozen") return "the daemon's own memory is short: no growth";
  if (pressure === "severe") return "the host is under memory or disk pressure: shrinking";
  if (pressure === "high") return "the host is under memory or disk pressure: no growth";
  if (delegateBytesMax !== undefined && delegateBytes >= delegateBytesMax)
    return "the runtime's cgroup has no room for more plugins";
  if (limit >= ceiling) return "at its ceiling (attachCeiling)";
  if (isSlowStart) return "slow start: doubling with each round";
  return pressure === "busy" && limit >= ceiling / 2 ? "the cores are busy: no growth" : "by how long plugins take";
}

function memoryOf(own: OwnMemory | undefined, admission: AdmissionFacts): MemoryView {
  const { ownMemory: state, delegateBytes, delegateBytesMax } = admission;
  return {
    state,
    ...(own === undefined ? {} : { usageBytes: own.usageBytes, limitBytes: own.limitBytes }),
    ...(own?.oomKills === undefined ? {} : { oomKills: own.oomKills }),
    delegateBytes,
    ...(delegateBytesMax === undefined ? {} : { delegateBytesMax }),
  };
}
