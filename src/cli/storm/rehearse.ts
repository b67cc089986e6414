import type { Context } from "../context.ts";
import { takeLock } from "../demo/lock.ts";
import { CommandFailure } from "../failure.ts";
import { paintFor } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";
import {
  certificateText,
  certificateValue,
  isHeld,
  sizesText,
  verdictText,
  type Certificate,
} from "./report/certificate.ts";
import { clearSite } from "./clear.ts";
import { NetnsBatch } from "./netns-batch.ts";
import { machineFacts } from "./report/machine-facts.ts";
import { stormPlanText, type StormPlan } from "./plan.ts";
import { requireStormMachine } from "./prepare.ts";
import { readAheadOf, readAheadWarning } from "./machine/read-ahead.ts";
import { requireReportFolder, writeReport } from "./report/report-file.ts";
import { reportHtml } from "./report/report-html.ts";
import { site } from "./site.ts";
import { stageContext, withStage } from "./stage.ts";
import { runCourse } from "./storm-course.ts";
import type { StormRun } from "./verdict.ts";
import { childEnv } from "../shell.ts";

interface StormOrder {
  readonly plan: StormPlan;
  /** Numbers of pods, tried in order until one does not hold. */
  readonly sizes: readonly number[];
  readonly isUntilItBreaks: boolean;
  readonly report: string | undefined;
  /** Lets somebody watch the storm's daemon, by its context. Absent without --console. */
  readonly invite?: (context: Context) => Promise<StormAudience>;
}

interface StormAudience extends AsyncDisposable {
  /** Resolves when nobody looks any more. */
  stay(): Promise<void>;
}

/** Rehearses a storm on this machine and prints whether it held; also as a page with --report. */
export async function rehearse(context: Context, order: StormOrder): Promise<void> {
  const { shell, settings } = context;
  requireReportFolder(order.report);
  await requireStormMachine(context, { ...order.plan, pods: order.sizes.at(-1) ?? order.plan.pods });
  const warnings = warningsOf(order.plan);
  await using _lock = await takeLock(site.name, "storm");
  for (const warning of warnings) shell.stderr.write(`Warning: ${warning}\n`);
  await removeStale(context);
  const node = machineFacts(shell.clock, order.plan);
  await using audience = await order.invite?.(stageContext(context, order.plan));
  const runs = await runSizes(context, order);
  const certificate: Certificate = { node, runs, warnings, isUntilItBreaks: order.isUntilItBreaks };
  print(shell.stdout, settings.output, {
    value: certificateValue(certificate),
    text: () => certificateText(certificate, paintFor(shell.stdout, shell.env)),
  });
  if (order.report !== undefined) await writeReport(shell, order.report, reportHtml(certificate));
  await audience?.stay();
  if (!isHeld(certificate)) throw new CommandFailure("storm-broke", `Levee ${verdictText(certificate)}`);
}

/** The storms alone, for a caller that judges them itself. */
export async function rehearseSizes(
  context: Context,
  plan: StormPlan,
  sizes: readonly number[],
): Promise<readonly StormRun[]> {
  await requireStormMachine(context, { ...plan, pods: sizes.at(-1) ?? plan.pods });
  await using _lock = await takeLock(site.name, "storm");
  await removeStale(context);
  return await runSizes(context, { plan, sizes });
}

function warningsOf({ workDir, readAheadKib }: StormPlan): readonly string[] {
  return [readAheadWarning(readAheadOf(workDir), readAheadKib)].filter((warning) => warning !== undefined);
}

async function runSizes(
  context: Context,
  { plan, sizes }: Pick<StormOrder, "plan" | "sizes">,
): Promise<readonly StormRun[]> {
  const runs: StormRun[] = [];
  for (const pods of sizes) {
    const sized = { ...plan, pods };
    if (sizes.length > 1) context.shell.stderr.write(`A storm of ${stormPlanText(sized)}\n`);
    const run = await withStage(context, sized, runCourse);
    runs.push(run);
    // Printed now, so that the result survives a later Ctrl-C.
    if (sizes.length > 1) context.shell.stderr.write(sizesText([run]));
    if (run.broken.length > 0) break;
  }
  return runs;
}

/** A killed storm could not clean up after itself. */
async function removeStale(context: Context): Promise<void> {
  const { shell } = context;
  const netns = new NetnsBatch(shell.clock, childEnv(shell), site.netnsPrefix);
  const { removed, left } = await withProgress(shell, "Removing what an earlier storm left", () =>
    clearSite(context, netns),
  );
  if (removed.length > 0)
    shell.stderr.write(`An earlier storm was killed; removed what it left: ${removed.join(", ")}\n`);
  if (left.length > 0)
    throw new CommandFailure("leftovers", `Cannot remove what an earlier storm left: ${left.join(", ")}`, {
      remedy: "remove it by hand, then start again",
    });
}
