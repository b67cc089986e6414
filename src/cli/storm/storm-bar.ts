import type { World } from "../world.ts";
import type { StormPlan } from "./plan.ts";
import { mib } from "./quantity.ts";
import type { Moment } from "./series.ts";

const barCells = 24;
/** On a screen; more often nobody can read it. */
const redrawMs = 200;
/** In a log. */
const lineMs = 10_000;

/** Shows how far the storm is, on stderr: a bar for a person, a line now and then for a log. */
export function stormBar(world: Pick<World, "stderr">, plan: StormPlan): { show(moment: Moment): void; end(): void } {
  const { stderr } = world;
  const everyMs = stderr.isTerminal ? redrawMs : lineMs;
  let shownMs = stderr.isTerminal ? -redrawMs : 0;
  return {
    show(moment) {
      if (moment.atMs - shownMs < everyMs) return;
      shownMs = moment.atMs;
      const line = barText(moment, plan);
      stderr.write(stderr.isTerminal ? `\r\u001b[K${line}` : `${line}\n`);
    },
    end() {
      if (stderr.isTerminal) stderr.write("\r\u001b[K");
    },
  };
}

export function barText(moment: Moment, plan: StormPlan): string {
  const filled = Math.floor((moment.attached / plan.pods) * barCells);
  const bar = `${"#".repeat(filled)}${"-".repeat(barCells - filled)}`;
  const second = plan.second.pods === 0 ? "" : `, second ${moment.secondAttached}/${plan.second.pods}`;
  const failed = moment.backingOff === 0 ? "" : `, ${moment.backingOff} failed`;
  const down = moment.isDaemonUp ? "" : ", daemon is down";
  return `[${bar}] ${moment.attached}/${plan.pods} attached, ${moment.waiting} waiting${failed}${second} | ${mib(moment.usageBytes)} of ${mib(plan.limitBytes)}${down} | ${(moment.atMs / 1000).toFixed(1)} s`;
}
