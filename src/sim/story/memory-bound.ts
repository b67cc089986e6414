import type { SimEvent } from "../node/sim-event.ts";
import type { NodeDaemon } from "../node/sim-daemon.ts";

/** Statuses and events that wait for the API server: docs/scale.md has both numbers. */
const lettersMax = 1_000;

/** A daemon that stays small: what it keeps has a bound, and the kernel never kills it for memory. */
export function memoryProblem(event: SimEvent, daemon: NodeDaemon | undefined): string | undefined {
  if (event.kind === "daemon")
    return event.what === "is out of memory" ? `the kernel killed the daemon of ${event.node} for memory` : undefined;
  // What waits grows with a call only.
  if (event.kind !== "run" && event.kind !== "answer") return undefined;
  return daemon?.running === undefined ? undefined : longQueue(daemon.running);
}

function longQueue({ ground, source }: NonNullable<NodeDaemon["running"]>): string | undefined {
  const { waitingMax } = ground.config;
  const { detach = 0, ...attach } = ground.admission.facts().waiting;
  const queues: readonly (readonly [string, number, number])[] = [
    ["DELs in line", detach, waitingMax],
    ["ADDs in line", Object.values(attach).reduce((sum, count) => sum + count, 0), waitingMax],
    ["statuses", source.statusTeller.health().waiting, lettersMax],
    ["events", source.eventTeller.health().waiting, lettersMax],
  ];
  const [found] = queues.filter(([, count, most]) => count > most);
  return found === undefined ? undefined : `${found[1]} ${found[0]} wait, and at most ${found[2]} may`;
}
