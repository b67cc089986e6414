import { counted } from "./counted.ts";
import type { NodeCell } from "../../wire/console-view.ts";
import type { KilledPod } from "./pod-book.ts";
import type { DaemonFacts } from "../facts/daemon-facts.ts";

/** Everything that is known of one node. */
export interface NodeSight {
  readonly name: string;
  readonly isReady?: boolean | undefined;
  readonly isCordoned?: boolean | undefined;
  readonly daemon?: DaemonFacts | undefined;
  /** Why its daemon was not heard, where it should have been; empty where none is expected. */
  readonly silence?: string | undefined;
  /** Pods that have the node and no network. */
  readonly waitingPods: number;
  /** CNI daemons there that were killed for memory lately. */
  readonly killed: readonly KilledPod[];
  readonly rebootMs?: number | undefined;
  readonly gate?: "Allow" | "Deny" | undefined;
}

/** From here on the daemon itself takes no more ADDs at once. */
const memoryShare = 0.85;
/** When the daemon was last heard is told this coarsely, so that an idle node does not change with every look. */
const heardStepMs = 30_000;

type Sign = readonly [state: NodeCell["state"], why: string];

export function nodeCell(sight: NodeSight): NodeCell {
  const signs = signsOf(sight);
  const { name, isReady, isCordoned, daemon, waitingPods, rebootMs, gate } = sight;
  const state = worst(
    signs.map(([one]) => one),
    isReady === undefined && daemon === undefined ? "unknown" : "ok",
  );
  return {
    name,
    state,
    ...(signs.length === 0 ? {} : { why: signs.map(([, why]) => why) }),
    ...(isReady === undefined ? {} : { isReady }),
    ...(isCordoned === true ? { isCordoned } : {}),
    ...(waitingPods === 0 ? {} : { pods: waitingPods }),
    ...(rebootMs === undefined ? {} : { rebootMs }),
    ...(gate === undefined ? {} : { gate }),
    ...killsOf(sight),
    ...(daemon === undefined ? {} : daemonCell(daemon)),
  };
}

function daemonCell(daemon: DaemonFacts): Partial<NodeCell> {
  const { adds, dels, leaks, running, slots, memoryBytes, memoryLimitBytes = 0, heardMs } = daemon;
  return {
    ...(adds === 0 ? {} : { adds }),
    ...(dels === 0 ? {} : { dels }),
    ...(leaks === 0 ? {} : { leaks }),
    ...(slots === undefined ? {} : { slots: [running, slots] }),
    ...(memoryBytes === undefined ? {} : { memory: [memoryBytes, memoryLimitBytes] }),
    heardMs: Math.floor(heardMs / heardStepMs) * heardStepMs,
  };
}

function killsOf({ daemon, killed }: NodeSight): Pick<NodeCell, "kills"> {
  const restarts = killed.reduce((sum, one) => sum + killsOfPod(one), 0);
  const kills = Math.max(restarts, daemon?.kills ?? 0);
  return kills === 0 ? {} : { kills };
}

/** As the guard's evidence counts them: the restarts of a daemon that was killed. It may not have been restarted yet. */
function killsOfPod({ restarts }: KilledPod): number {
  return Math.max(1, restarts);
}

/** The worst first. */
function signsOf(sight: NodeSight): readonly Sign[] {
  const signs: Sign[] = [...healthSigns(sight), ...(sight.daemon === undefined ? [] : daemonSigns(sight.daemon))];
  if (sight.waitingPods > 0 && (sight.daemon?.adds ?? 0) === 0)
    signs.push(["busy", `${counted(sight.waitingPods, "pod")} without a network yet`]);
  if (sight.rebootMs !== undefined) signs.push(rebootSign(sight));
  return signs.toSorted(([left], [right]) => rank(right) - rank(left));
}

function healthSigns({ isReady, isCordoned, killed, silence = "" }: NodeSight): readonly Sign[] {
  return [
    ...(isReady === false ? [["failed", "the node is not ready"] as const] : []),
    ...killed.map((one): Sign => [
      "failed",
      `${one.pod} was killed for memory in the last hour, ${counted(killsOfPod(one), "restart")}`,
    ]),
    ...(silence === "" ? [] : [["warning", silence] as const]),
    ...(isCordoned === true ? [["warning", "cordoned: no new pods come here"] as const] : []),
  ];
}

function daemonSigns({ adds, dels, leaks, held, halfOpen, hung, ...memory }: DaemonFacts): readonly Sign[] {
  const { memoryBytes = 0, memoryLimitBytes = 0 } = memory;
  const isShort = memoryLimitBytes > 0 && memoryBytes > memoryShare * memoryLimitBytes;
  const rows: readonly (readonly [NodeCell["state"], number, string, string])[] = [
    ["warning", hung, "hanging plugin", "hanging plugins"],
    ["warning", halfOpen, "failing network", "failing networks"],
    ["warning", held, "pod held back after failures", "pods held back after failures"],
    ["warning", leaks, "leak", "leaks"],
    ["busy", adds, "ADD in line", "ADDs in line"],
    ["busy", dels, "DEL in line", "DELs in line"],
  ];
  return [
    ...(isShort ? [["warning", "the daemon's memory is close to its limit"] as const] : []),
    ...rows.flatMap(([state, count, one, many]): readonly Sign[] =>
      count === 0 ? [] : [[state, counted(count, one, many)]],
    ),
  ];
}

function rebootSign({ gate }: NodeSight): Sign {
  const due = "a reboot is due";
  if (gate === undefined) return ["warning", due];
  return ["warning", gate === "Allow" ? `${due}, and the gate allows it` : `${due}, and the gate denies it`];
}

const ranks: readonly NodeCell["state"][] = ["ok", "unknown", "busy", "warning", "failed"];

function rank(state: NodeCell["state"]): number {
  return ranks.indexOf(state);
}

function worst(states: readonly NodeCell["state"][], least: NodeCell["state"]): NodeCell["state"] {
  return states.reduce((most, one) => (rank(one) > rank(most) ? one : most), least);
}
