import type { SimStormEnd } from "../../sim/storm/sim-storm-end.ts";
import type { SimStormPlan } from "../../sim/storm/sim-storm-plan.ts";
import { waitMs } from "../../sim/storm/pod-wait.ts";
import type { Context } from "../context.ts";
import { CommandFailure, exitCode } from "../failure.ts";
import { requireReportFolder, writeReport } from "../storm/report/report-file.ts";
import { rowsText } from "../storm/report/certificate.ts";
import { paintFor, type Paint } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { tookText } from "../terminal/span.ts";
import { simPage } from "./sim-page.ts";
import { simProgress } from "./sim-progress.ts";
import { simNodesTable, simRows, simVerdict } from "./sim-rows.ts";

/** One screen. */
const nodeRowsMax = 12;

/** Simulates one storm and prints what happened. The exit status says whether it holds. */
export async function playSim(context: Context, plan: SimStormPlan, report: string | undefined): Promise<void> {
  const { shell, settings } = context;
  requireReportFolder(report);
  const { runSimStorm } = await import("../../sim/storm/run-sim-storm.ts");
  const progress = simProgress(shell, "The daemons start");
  const end = await runSimStorm(plan, {
    onMoment: ({ atMs, attached, criticalAttached }) =>
      progress.say(`Simulated ${tookText(atMs)}: ${attached + criticalAttached} of ${plan.pods.length} pods attached`),
    isInterrupted: () => {
      progress.tick();
      return shell.interrupted.aborted;
    },
  });
  progress.end();
  print(shell.stdout, settings.output, {
    value: simValue(end),
    text: () => simText(end, paintFor(shell.stdout, shell.env)),
    wide: () => simText(end, paintFor(shell.stdout, shell.env), plan.nodes.length),
  });
  if (report !== undefined) await writeReport(shell, report, simPage(end));
  if (end.isInterrupted)
    throw new CommandFailure("interrupted", "Interrupted while simulating", { exitCode: exitCode.interrupted });
  if (end.broken.length > 0) throw new CommandFailure("storm-broke", simVerdict(end));
}

function simText(end: SimStormEnd, paint: Paint, rowsMax = nodeRowsMax): string {
  const isGood = end.broken.length === 0 && !end.isInterrupted;
  const verdict = `${isGood ? "✓" : "×"} ${simVerdict(end)}`;
  return [
    `${paint(isGood ? "green" : "red", paint("bold", verdict))}\n\n`,
    rowsText(simRows(end)),
    `\n${simNodesTable(end, rowsMax)}`,
    `\n${rowsText([["seed, run", `${end.plan.seed}, ${end.hash}: the same program and seed give the same run`]])}`,
  ].join("");
}

/** For programs, without the moments, which only the report uses. */
function simValue(end: SimStormEnd): unknown {
  const { plan, nodes, api, broken, records, hash, steps, simulatedMs, isInterrupted } = end;
  return {
    holds: broken.length === 0 && !isInterrupted,
    verdict: simVerdict(end),
    broken,
    isInterrupted,
    impl: plan.impl,
    seed: plan.seed,
    limits: plan.limits,
    nodes,
    api,
    pods: records.map((record) => {
      const { pod, arrivedMs, attachedMs, goneMs, refusals } = record;
      const { node, namespace, name, isCritical } = pod;
      const waitedMs = waitMs(record, plan.faults);
      return { node, namespace, name, isCritical, arrivedMs, attachedMs, waitedMs, goneMs, refusals };
    }),
    simulatedMs,
    steps,
    hash,
  };
}
