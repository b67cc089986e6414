import type { AdmissionFacts } from "../../admission/facts.ts";
import type { OwnMemory } from "../../admission/load/own-memory.ts";
import type { MemoryView, SlotsView, TopAnswer } from "../../wire/top-view.ts";
import type { NodeFacts } from "./node-facts.ts";
import { readLoad } from "../health/own-load.ts";
import { openOf } from "./pod-now.ts";

/** A screen has few lines. */
const rowsMax = 20;
const noticesMax = 5;

/** The node at this moment. The few files about load are read for it; all else is in memory. */
export function topAnswer(facts: NodeFacts): TopAnswer {
  const { ports, nodeName, software, startedWallMs } = facts;
  const load = readLoad("/");
  const admission = ports.admission.facts();
  const { cpu, memory, io } = load.pressure;
  return {
    nodeName,
    software,
    wallMs: ports.clock.wallMs(),
    monotonicMs: Math.round(ports.clock.monotonicMs()),
    startedWallMs,
    attachments: ports.journal.all().filter(({ phase }) => phase === "acknowledged").length,
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
  return reasons.find(([, holds]) => holds(facts))?.[0] ?? "by how long plugins take";
}

/** The first that holds is what keeps the limit. */
const reasons: readonly (readonly [string, (facts: AdmissionFacts) => boolean])[] = [
  ["the daemon's own memory is nearly used up: only DELs are served", ({ ownMemory }) => ownMemory === "exhausted"],
  ["the daemon's own memory is short: no growth", ({ ownMemory }) => ownMemory === "frozen"],
  ["the host is under memory or disk pressure: shrinking", ({ pressure }) => pressure === "severe"],
  ["the host is under memory or disk pressure: no growth", ({ pressure }) => pressure === "high"],
  [
    "the runtime's cgroup has no room for more plugins",
    ({ delegateBytes, delegateBytesMax }) => delegateBytesMax !== undefined && delegateBytes >= delegateBytesMax,
  ],
  ["at its ceiling (attachCeiling)", ({ limit, ceiling }) => limit >= ceiling],
  ["slow start: doubling with each round", ({ isSlowStart }) => isSlowStart],
  ["the cores are busy: no growth", ({ pressure, limit, ceiling }) => pressure === "busy" && limit >= ceiling / 2],
];

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
