/**
 * Runs scenarios on a cluster of one node, in its own namespaces. Failed scenarios run once more on a new cluster. Those
 * that pass then are reported as unsteady (see ../test/bun-test.ts).
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder, removeFolder, runApart } from "../../test/e2e/apart.ts";
import type { Surroundings } from "../../test/e2e/the-cluster.ts";
import { readReport } from "../test/bun-test.ts";
import { reportedCounts } from "../test/counts.ts";
import { failedTests, failuresOf, testTitle, type EndedRun } from "../test/failed-tests.ts";
import { nothingRan, withSecondLook, type Outcome } from "../test/outcome.ts";
import { groupsByTime } from "../test/slowest.ts";
import { unreportedGroups } from "../test/unreported.ts";

const root = resolve(import.meta.dirname, "../..");
const suite = "test/e2e/suite.ts";
/** If more scenarios than this fail, a busy machine is not the reason. */
const secondLookScenariosMax = 3;

export type Around = Omit<Surroundings, "folder">;

export interface ScenarioRun {
  readonly around: Around;
  readonly names: readonly string[];
  /** The limit for a single scenario. */
  readonly timeoutMs: number;
}

export async function runScenarios(asked: ScenarioRun): Promise<Outcome> {
  if (asked.names.length === 0) return nothingRan;
  const first = await runOnce(asked);
  const again = againOf(first.groups, asked.names);
  if (again.length === 0) return first;
  console.log(`\n— once more, on a new cluster: ${again.join(", ")}`);
  return withSecondLook(first, await runOnce({ ...asked, names: again }));
}

/** The scenarios to run once more: none when all passed, and none when too many failed. */
export function againOf(failed: readonly string[], names: readonly string[]): readonly string[] {
  // The cluster did not start, so no scenario ran: run all of them again.
  if (failed.length > 0 && failed.every((group) => group === "")) return names;
  const own = names.filter((name) => failed.includes(name));
  const isClear = failed.every((group) => names.includes(group)) && own.length <= secondLookScenariosMax;
  if (!isClear || own.length === 0) return [];
  // The scenarios after it run on the runtime that it installs.
  const isBehind = (name: string): boolean =>
    names.includes(newRuntime) && names.indexOf(name) > names.indexOf(newRuntime);
  return names.filter((name) => own.includes(name) || (name === newRuntime && own.some(isBehind)));
}

const newRuntime = "new-runtime";

interface Run extends Outcome {
  /** Scenarios with a failed test; the empty name stands for a failure outside of them. */
  readonly groups: readonly string[];
}

async function runOnce({ around, names, timeoutMs }: ScenarioRun): Promise<Run> {
  const folder = makeFolder();
  try {
    const report = join(folder, "report.xml");
    const reporter = ["--reporter=junit", "--reporter-outfile", report];
    const command = [process.execPath, "test", "--timeout", String(timeoutMs), ...reporter, `./${suite}`];
    const surroundings: Surroundings = { ...around, folder };
    const status = await runApart(command, {
      LEVEE_E2E: JSON.stringify(surroundings),
      LEVEE_E2E_ONLY: names.join(","),
    });
    if (status !== 0) keepLogs(folder);
    return runOf({ report: readReport(report), status }, names);
  } finally {
    removeFolder(folder);
  }
}

function runOf(ended: EndedRun, names: readonly string[]): Run {
  // If the cluster did not start, no scenario was reached.
  const hasBegun = !failedTests(ended.report).some(({ group }) => group === "");
  const failed = failuresOf(ended, hasBegun ? unreportedGroups(suite, names, ended.report) : [], [suite]);
  const counts = reportedCounts(ended.report, ended.status);
  return {
    counts,
    failed: failed.map(testTitle),
    unsteady: [],
    groups: failed.map(({ group }) => group),
    parts: groupsByTime(ended.report).map(({ name, ms }) => ({ name: `scenario ${name}`, ms })),
  };
}

/** Keeps the logs of a failed run for debugging. */
function keepLogs(folder: string): void {
  const kept = join(root, ".cache/e2e-logs");
  if (!existsSync(join(folder, "logs"))) return;
  rmSync(kept, { recursive: true, force: true });
  cpSync(join(folder, "logs"), kept, { recursive: true });
  console.error(`The logs of all programs are in ${kept}`);
}
