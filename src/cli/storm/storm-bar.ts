import type { Shell } from "../shell.ts";
import type { StormPlan } from "./plan.ts";
import { mibText } from "./quantity.ts";
import type { Moment } from "./series.ts";

const barCells = 24;
/** On a terminal; a faster bar is not readable. */
const redrawMs = 200;
/** In a log. */
const lineMs = 10_000;

/** Shows the storm's progress on stderr: a bar on a terminal, a line now and then in a log. */
export function stormBar(shell: Pick<Shell, "stderr">, plan: StormPlan): { show(moment: Moment): void; end(): void } {
  const { stderr } = shell;
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

function barText(moment: Moment, plan: StormPlan): string {
  const filled = Math.floor((moment.attached / plan.pods) * barCells);
  const bar = `${"#".repeat(filled)}${"-".repeat(barCells - filled)}`;
  const second = plan.second.pods === 0 ? "" : `, second ${moment.secondAttached}/${plan.second.pods}`;
  const failed = moment.backingOff === 0 ? "" : `, ${moment.backingOff} failed`;
  const down = moment.isDaemonUp ? "" : ", daemon is down";
  return `[${bar}] ${moment.attached}/${plan.pods} attached, ${moment.waiting} waiting${failed}${second} | ${mibText(moment.usageBytes)} of ${mibText(plan.limitBytes)}${down} | ${(moment.atMs / 1000).toFixed(1)} s`;
}
