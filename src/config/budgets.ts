import type { NumberKnobKey } from "./knobs.ts";
import type { ConfigProblem } from "./problem.ts";

/** The last steps of an ADD or DEL: the commit on disk, the reply, and the shim's ACK. */
export const closingMs = 2_000;
/** A daemon silent for this many heartbeats is lost. */
const heartbeatsMissedMax = 3;

/** The parts must fit into the whole, or the shim ends a call while the daemon still counts on more time. */
export function budgetProblems(settings: Readonly<Record<NumberKnobKey, number>>): ConfigProblem[] {
  const lostMs = heartbeatsMissedMax * settings.heartbeatMs;
  return [
    ...overrun(settings, "addBudgetMs", ["addQueueMs", "addLookupMs", "addDelegatesMs", "addUndoMs"]),
    ...overrun(settings, "delBudgetMs", ["delPatienceMs", "delQueueMs", "delDelegatesMs"]),
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
  settings: Readonly<Record<NumberKnobKey, number>>,
  whole: NumberKnobKey,
  parts: readonly NumberKnobKey[],
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
