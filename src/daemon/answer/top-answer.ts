import type { AdmissionFacts } from "../../admission/facts.ts";
import type { OwnMemory } from "../../admission/load/own-memory.ts";
import type { MemoryView, SlotsView, TopAnswer } from "../../wire/top-view.ts";
import type { Admission } from "../../admission/admission.ts";
import type { Clock } from "../../base/clock.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Pulse } from "../record/pulse.ts";
import type { HungPlugins } from "./hung-plugins.ts";
import type { ThisNode } from "./node-answer.ts";
import { readLoad } from "../health/own-load.ts";
import { openOf } from "./pod-now.ts";

/** A screen is small. */
const rowsMax = 20;
const noticesShown = 5;

export interface TopNeeds {
  readonly thisNode: ThisNode;
  readonly clock: Clock;
  readonly journal: Pick<Journal, "all" | "leaks" | "losses">;
  readonly admission: Pick<Admission, "facts">;
  readonly hung: Pick<HungPlugins, "all">;
  readonly pulse: Pick<Pulse, "plugins" | "failures" | "totals">;
}

/** The node's present state. Only the few files about load are read; all else is in memory. */
export function topAnswer({ thisNode, clock, journal, hung, pulse, ...needs }: TopNeeds): TopAnswer {
  const { nodeName, software, startedWallMs } = thisNode;
  const load = readLoad("/");
  const admission = needs.admission.facts();
  const { cpu, memory, io } = load.pressure;
  return {
    nodeName,
    software,
    wallMs: clock.wallMs(),
    monotonicMs: Math.round(clock.monotonicMs()),
    startedWallMs,
    attachments: journal.all().filter(({ phase }) => phase === "acknowledged").length,
    leaks: journal.leaks().length,
    quarantined: journal.losses().length,
    classes: admission.classes.map((row) => ({ ...row, oldestWaitMs: Math.round(row.oldestWaitMs) })),
    slots: slotsOf(admission),
    flows: admission.flows,
    heldPods: admission.heldPods,
    hung: hung.all(),
    openNetworks: openOf(admission, { clock }).slice(0, rowsMax),
    delegates: pulse.plugins(),
    memory: memoryOf(load.ownMemory, admission),
    pressure: {
      ...(cpu === undefined ? {} : { cpu: cpu.some }),
      ...(memory === undefined ? {} : { memory: memory.some }),
      ...(io === undefined ? {} : { io: io.some }),
    },
    failures: pulse.failures,
    totals: pulse.totals,
    notices: thisNode.notices().slice(0, noticesShown),
  };
}

function slotsOf(admission: AdmissionFacts): SlotsView {
  const { attaching, limit, ceiling, detaching, detachLimit, detachCeiling, hung } = admission;
  return { attaching, limit, ceiling, detaching, detachLimit, detachCeiling, hung, why: limitReason(admission) };
}

/** Why the limit of parallel ADDs is not higher. */
function limitReason(facts: AdmissionFacts): string {
  return reasons.find(([, holds]) => holds(facts))?.[0] ?? "by how long plugins take";
}

/** In order of precedence. */
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
