import type { RebootEnd } from "../../../sim/reboot/reboot-end.ts";
import type { RebootPlan } from "../../../sim/reboot/reboot-plan.ts";
import type { Context } from "../../context.ts";
import { CommandFailure, exitCode } from "../../failure.ts";
import { rowsText } from "../../storm/report/certificate.ts";
import { requireReportFolder, writeReport } from "../../storm/report/report-file.ts";
import { paintFor, type Paint } from "../../terminal/paint.ts";
import { print } from "../../terminal/print.ts";
import { tookText } from "../../terminal/span.ts";
import { simProgress } from "../sim-progress.ts";
import { rebootsPage } from "./reboots-page.ts";
import { rebootsRows, rebootsTable, rebootsVerdict } from "./reboots-rows.ts";

/** One screen. */
const nodeRowsMax = 12;

/** Simulates a fleet with reboots due and prints what happened. The exit status says whether the gate holds. */
export async function playReboots(context: Context, plan: RebootPlan, report: string | undefined): Promise<void> {
  const { shell, settings } = context;
  requireReportFolder(report);
  const { runReboots } = await import("../../../sim/reboot/run-reboots.ts");
  const progress = simProgress(shell, "The guards start");
  const end = await runReboots(plan, {
    onMoment: ({ atMs, back }) =>
      progress.say(`Simulated ${tookText(atMs)}: ${back} of ${plan.due.length} nodes rebooted`),
    isInterrupted: () => {
      progress.tick();
      return shell.interrupted.aborted;
    },
  });
  progress.end();
  print(shell.stdout, settings.output, {
    value: rebootsValue(end),
    text: () => rebootsText(end, paintFor(shell.stdout, shell.env), nodeRowsMax),
    wide: () => rebootsText(end, paintFor(shell.stdout, shell.env), plan.due.length),
  });
  if (report !== undefined) await writeReport(shell, report, rebootsPage(end));
  if (end.isInterrupted)
    throw new CommandFailure("interrupted", "Interrupted while simulating", { exitCode: exitCode.interrupted });
  if (end.broken.length > 0) throw new CommandFailure("reboots-broke", rebootsVerdict(end));
}

function rebootsText(end: RebootEnd, paint: Paint, rowsMax: number): string {
  const isGood = end.broken.length === 0 && !end.isInterrupted;
  const verdict = `${isGood ? "✓" : "×"} ${rebootsVerdict(end)}`;
  return [
    `${paint(isGood ? "green" : "red", paint("bold", verdict))}\n\n`,
    rowsText(rebootsRows(end)),
    `\n${rebootsTable(end, rowsMax)}`,
    `\n${rowsText([["seed, run", `${end.plan.seed}, ${end.hash}: the same program and seed give the same run`]])}`,
  ].join("");
}

/** For programs, without the moments, which only the report uses. */
function rebootsValue(end: RebootEnd): unknown {
  const { plan, records, closedMs, awayMax, leads, api, broken, isInterrupted, simulatedMs, steps, hash } = end;
  return {
    holds: broken.length === 0 && !isInterrupted,
    verdict: rebootsVerdict(end),
    broken,
    isInterrupted,
    seed: plan.seed,
    guards: plan.guards,
    atOnce: plan.settings.gate.atOnce,
    nodes: records.map(({ heldMs, ...record }) => ({ ...record, heldMs: Object.fromEntries(heldMs) })),
    closedMs: Object.fromEntries(closedMs),
    awayMax,
    leads,
    api,
    simulatedMs,
    steps,
    hash,
  };
}
