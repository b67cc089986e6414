import { rolloutRestartLine } from "../../decide/kubectl-lines.ts";
import { stuckWorkloadsMax } from "../../decision/limits.ts";
import type { ListStuckStep } from "../../decision/step.ts";
import type { StuckWorkload } from "../../detect/stuck-workloads.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";
import { newlyFallen, stuckWorkloads } from "./fallen-workloads.ts";

const betweenLooksMs = 5_000;
/** Kubelet retries within half of this time: a workload without change for so long does not recover by itself. */
const stillMs = 60_000;
/** People wait for the list, so it comes even while something still changes. */
const patienceMs = 300_000;
/** In the message; the lines name all of them. */
const namedMax = 8;

/** Lists the workloads that are still stuck once the network is back. Later steps restart those of the plan. */
export const listStuckRunner: StepRunner<ListStuckStep> = {
  async precondition() {
    return undefined;
  },

  async rehearse() {
    return undefined;
  },

  async perform(step, context) {
    const stuck = await whenStill(context);
    const shown = stuck.slice(0, stuckWorkloadsMax);
    return {
      message: listText(step, stuck),
      lines: shown.map(({ kind, namespace, name }) => rolloutRestartLine(kind, namespace, name)),
      followed: [
        ...(context.reported.followed ?? []),
        ...newlyFallen(context.decision, context.world(), context.settings),
      ],
    };
  },

  async check(_step, { reported }) {
    return reported.lines === undefined ? "the list is not written yet" : undefined;
  },
};

/** Gives workloads time to start by themselves: until none is left, nothing changes, or the time is over. */
async function whenStill(context: StepContext): Promise<readonly StuckWorkload[]> {
  const { clock, signal } = context;
  const endMs = clock.monotonicMs() + patienceMs;
  let seen = "";
  let sinceMs = clock.monotonicMs();
  for (;;) {
    const stuck = stuckWorkloads(context.world(), context.settings);
    const nowMs = clock.monotonicMs();
    const text = stuck
      .map(({ kind, namespace, name, pods }) => `${kind} ${namespace}/${name} ${pods.length}`)
      .join("\n");
    if (text !== seen) sinceMs = nowMs;
    seen = text;
    if (stuck.length === 0 || nowMs - sinceMs >= stillMs || nowMs >= endMs) return stuck;
    await clock.sleep(betweenLooksMs, signal);
    await context.mayWrite();
  }
}

function listText({ listStuck }: ListStuckStep, stuck: readonly StuckWorkload[]): string {
  const now = new Set(stuck.map(keyOf));
  const started = listStuck.workloads.filter((workload) => !now.has(keyOf(workload))).length;
  const byThemselves = started === 0 ? "" : `; ${started} of those in the plan are no longer stuck`;
  if (stuck.length === 0) return `No workload is stuck${byThemselves}`;
  const named = stuck
    .slice(0, namedMax)
    .map(({ kind, namespace, name, pods }) => `${kind} ${namespace}/${name} (${pods.length})`);
  const more = stuck.length > namedMax ? ` and ${stuck.length - namedMax} more` : "";
  return `${stuck.length} workloads are stuck; the lines restart or show them: ${named.join(", ")}${more}${byThemselves}`;
}

function keyOf({ kind, namespace, name }: Pick<StuckWorkload, "kind" | "namespace" | "name">): string {
  return `${kind} ${namespace}/${name}`;
}
