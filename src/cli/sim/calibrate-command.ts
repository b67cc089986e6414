import { cpus } from "node:os";
import type { Command } from "commander";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import type { MachineModel } from "../../sim/machine/machine-model.ts";
import type { MeasuredStorm } from "../../sim/storm/fit-model.ts";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { CommandFailure, exitCode, usageFailure } from "../failure.ts";
import { requirePluginFolders } from "../node/shim-options.ts";
import type { Shell } from "../shell.ts";
import { readPlan, stormDefaults } from "../storm/plan.ts";
import { mibText, parseCount } from "../storm/quantity.ts";
import { rehearseSizes } from "../storm/rehearse.ts";
import type { StormRun } from "../storm/verdict.ts";
import { print } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";
import { tookText } from "../terminal/span.ts";
import { renderTable } from "../terminal/table.ts";
import { readModel } from "./model-file.ts";
import { simMax } from "./sim-words.ts";

interface CalibrateOptions {
  readonly pods: string;
  readonly write: string;
  readonly plugins?: string;
  readonly workDir: string;
  readonly readAhead?: string;
}

const usualSizes = "60,180,600";
const smallestStorm = 4;

export function addSimCalibrate(sim: Command, shell: Shell): void {
  const calibrate = sim
    .command("calibrate")
    .description("Measure some storms on this machine, and write what things cost here")
    .option("--pods <sizes>", "sizes of two or three storms, the smallest first", usualSizes)
    .option("--write <file>", "the model to write", "sim-model.json")
    .option("--plugins <folder>", "folder of the CNI plugins (LEVEE_CNI_PATH; default: as for levee attach)")
    .option("--shim <file>", "the shim to run (LEVEE_SHIM; default: levee-shim beside this program)")
    .option("--work-dir <folder>", "as for levee storm", stormDefaults.workDir)
    .option("--read-ahead <KiB>", "as for levee storm")
    .addHelpText(
      "after",
      [
        `\nRuns real storms, as levee storm does, and fits the model to them. Needs root, and a machine of the kind`,
        "of your nodes with nothing else to do. The largest says how things slow down with the pods, so it should",
        "be about as large as the storms that you ask about. The constants of Multus stay as they are.",
        examples(
          "levee sim calibrate --write model.json",
          "levee sim calibrate --pods 60,180,1000 --write model.json    # for storms of a thousand pods",
          "levee sim storm --pods 500 --model model.json",
        ),
      ].join("\n"),
    );
  calibrate.action(async (options: CalibrateOptions) => {
    const outer = contextOf(calibrate, shell);
    const { plugins } = options;
    const context: Context = {
      ...outer,
      settings: plugins === undefined ? outer.settings : { ...outer.settings, cniPath: plugins },
    };
    requirePluginFolders(context.settings, "--plugins");
    await runCalibration(context, options);
  });
}

async function runCalibration(context: Context, options: CalibrateOptions): Promise<void> {
  const { write, workDir, readAhead } = options;
  const sizes = sizesOf(options.pods);
  const { shell, settings } = context;
  const words = { ...stormDefaults, second: "0", workDir, ...(readAhead === undefined ? {} : { readAhead }) };
  const storms = (await rehearseSizes(context, readPlan(words), sizes)).map(measuredOf);
  const { fitModel, fittedText, simulated } = await import("../../sim/storm/fit-model.ts");
  const usual: MachineModel = { ...(await readModel(undefined)), cores: cpus().length };
  const isInterrupted = (): boolean => shell.interrupted.aborted;
  const guesses: MeasuredStorm[] = [];
  const model = await withProgress(shell, "Fitting the model", async () => {
    const fitted = await fitModel(usual, storms, isInterrupted);
    if (fitted === undefined) return undefined;
    for (const storm of storms) guesses.push(await simulated(fitted, storm, isInterrupted));
    return fitted;
  });
  if (model === undefined || isInterrupted()) return endEarly(context, storms);
  await writeModel(write, model);
  print(shell.stdout, settings.output, {
    value: { model, measured: storms, simulated: guesses },
    text: () =>
      `${calibrationTable(storms, guesses)}\nFitted: ${fittedText(model)}\nThe model is ${write}: levee sim storm --model ${write}\n`,
  });
}

/** What was measured is known; a model is not. */
function endEarly({ shell, settings }: Context, storms: readonly MeasuredStorm[]): never {
  print(shell.stdout, settings.output, { value: { measured: storms }, text: () => measuredTable(storms) });
  throw new CommandFailure("interrupted", "Interrupted while fitting the model: no model was written", {
    exitCode: exitCode.interrupted,
  });
}

/** What each of them says: `fitModel`. */
function sizesOf(text: string): readonly number[] {
  const words = text.split(",");
  const sizes = words.map((word) => parseCount("--pods", word.trim(), { min: smallestStorm, max: simMax.pods }));
  const isGrowing = sizes.every((size, at) => size > (sizes[at - 1] ?? 0));
  if ((sizes.length === 2 || sizes.length === 3) && isGrowing) return sizes;
  throw usageFailure(
    `Cannot use ${JSON.stringify(text)} as --pods: it must be two or three numbers of pods, the smallest first`,
    `--pods ${usualSizes}`,
  );
}

function measuredOf({ plan, tookMs, broken, daemonCpuMs, peakAnonBytes }: StormRun): MeasuredStorm {
  if (tookMs === undefined)
    throw new CommandFailure("storm-broke", `Cannot calibrate by a storm that does not hold: ${broken.join("; ")}`, {
      remedy: "levee storm --pods 60 shows it; a larger machine, or less load on it",
    });
  const limits = { limitBytes: plan.limitBytes, cpuMillis: plan.cpuMillis };
  return { pods: plan.pods, limits, tookMs, daemonCpuMs, anonPeakBytes: peakAnonBytes };
}

function calibrationTable(storms: readonly MeasuredStorm[], guesses: readonly MeasuredStorm[]): string {
  const rows = storms.map((storm, at) => {
    const guess = guesses[at] ?? storm;
    const both = (pick: (one: MeasuredStorm) => string): string => `${pick(storm)} / ${pick(guess)}`;
    return [
      `${storm.pods}`,
      both(({ tookMs }) => tookText(tookMs)),
      both(({ daemonCpuMs }) => tookText(daemonCpuMs)),
      both(({ anonPeakBytes }) => mibText(anonPeakBytes)),
    ];
  });
  return renderTable(["PODS", "TIME, REAL / SIMULATED", "CPU OF THE DAEMON", "ITS MEMORY"], rows);
}

function measuredTable(storms: readonly MeasuredStorm[]): string {
  const rows = storms.map(({ pods, tookMs, daemonCpuMs, anonPeakBytes }) => [
    `${pods}`,
    tookText(tookMs),
    tookText(daemonCpuMs),
    mibText(anonPeakBytes),
  ]);
  return renderTable(["PODS", "TIME", "CPU OF THE DAEMON", "ITS MEMORY"], rows);
}

async function writeModel(path: string, model: MachineModel): Promise<void> {
  try {
    await writeFileAtomically(path, `${JSON.stringify(model, undefined, 2)}\n`, { mode: 0o644, sync: false });
  } catch (cause) {
    throw new CommandFailure(errnoOf(cause) ?? "io-failed", `Cannot write the model ${path}`, {
      remedy: "--write with a file in a folder that exists and has room",
      cause,
    });
  }
}
