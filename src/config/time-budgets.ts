import { ms } from "./knob.ts";
import type { ConfigProblem } from "./problem.ts";

/** How long a call and its parts may take: settings of daemon-config.json. */
export const timeBudgets = {
  addBudgetMs: ms(
    110_000,
    5_000,
    110_000,
    "The time limit of one ADD, enforced by the shim. The kubelet's `runtimeRequestTimeout` is two minutes; set less where it is shorter.",
  ),
  addLookupMs: ms(
    5_000,
    100,
    30_000,
    "How long an ADD waits for its pod and its networks to appear in the local view. Deletes on the same networks that were made while the daemon was away may use this time.",
  ),
  addDelegatesMs: ms(
    25_000,
    1_000,
    100_000,
    "All plugins of one ADD together; a plugin past it is killed with its children. On a slow node a plugin that still moves gets what is left of the call.",
  ),
  addUndoMs: ms(
    8_000,
    1_000,
    60_000,
    "Reserved for the undo of a failed ADD by the same shim, before the shim returns the error; by the shim at most half of the budget.",
  ),
  addQueueMs: ms(
    70_000,
    100,
    100_000,
    "The longest wait of an ADD for a slot before the runtime is told to retry later. A call waits less if its budget leaves less, and 15 s at most once a conf changes, because containerd then waits until all its calls have ended.",
  ),
  delBudgetMs: ms(
    50_000,
    5_000,
    55_000,
    "The time limit of one DEL. containerd allows 60 s for its clean-up, so the reply must come earlier.",
  ),
  delDelegatesMs: ms(
    25_000,
    1_000,
    50_000,
    "All plugins of one DEL together. A DEL that has waited in line may have less, but no less than three times the usual time of its networks, and 10 s.",
  ),
  delQueueMs: ms(
    36_000,
    100,
    50_000,
    "The longest time that a DEL waits for a slot. Then it fails and the runtime retries, or, if its plugins surely do not need the network namespace, it is stored on disk and reported as done.",
  ),
  delPatienceMs: ms(
    2_000,
    1,
    20_000,
    "How long the shim tries to reach the daemon for a DEL before it writes a durable delete record.",
  ),
} as const;

type TimeKey = keyof typeof timeBudgets;

/** The last steps of an ADD or DEL: the commit on disk, the reply, and the shim's ACK. */
export const closingMs = 2_000;
/** A daemon silent for this many heartbeats is lost. */
const heartbeatsMissedMax = 3;

/** The parts must fit into the whole, or the shim ends a call while the daemon still counts on more time. */
export function budgetProblems(settings: Readonly<Record<TimeKey | "heartbeatMs", number>>): ConfigProblem[] {
  const lostMs = heartbeatsMissedMax * settings.heartbeatMs;
  return [
    // The line gets what is left, up to addQueueMs.
    ...overrun(settings, "addBudgetMs", ["addLookupMs", "addDelegatesMs", "addUndoMs"]),
    // The time in line and the plugins' time share the rest of a DEL, so only the longer one must fit.
    ...overrun(settings, "delBudgetMs", [
      "delPatienceMs",
      settings.delQueueMs > settings.delDelegatesMs ? "delQueueMs" : "delDelegatesMs",
    ]),
    ...(["addBudgetMs", "delBudgetMs"] as const)
      .filter((whole) => lostMs >= settings[whole])
      .map((whole) => ({
        key: "heartbeatMs",
        seen: String(settings.heartbeatMs),
        remedy: `set less than a third of ${whole} (${settings[whole]}), so that a shim notices a lost daemon within a call`,
      })),
  ];
}

function overrun(
  settings: Readonly<Record<TimeKey, number>>,
  whole: TimeKey,
  parts: readonly TimeKey[],
): ConfigProblem[] {
  const sumMs = parts.reduce((sum, part) => sum + settings[part], closingMs);
  if (sumMs <= settings[whole]) return [];
  const shown = parts.map((part) => `${part} ${settings[part]}`).join(" + ");
  return [
    {
      key: whole,
      seen: String(settings[whole]),
      remedy: `set at least ${sumMs}, the sum of ${shown} + ${closingMs} for closing, or shorten a part`,
    },
  ];
}
