/** Runs a suite of scenarios with `bun test`, in its own namespaces and with a folder of its own, and counts. */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder, removeFolder, runApart } from "../../test/e2e/apart.ts";
import { readReport } from "../test/bun-test.ts";
import { reportedCounts } from "../test/counts.ts";
import { failedTests, failuresOf, testTitle, type EndedRun } from "../test/failed-tests.ts";
import type { Outcome } from "../test/outcome.ts";
import { groupsByTime } from "../test/slowest.ts";
import { unreportedGroups } from "../test/unreported.ts";

const root = resolve(import.meta.dirname, "../..");

export interface AskedSuite {
  /** The file with the groups. */
  readonly suite: string;
  /** The groups that must be in the report. */
  readonly names: readonly string[];
  /** The limit for a single test. */
  readonly timeoutMs: number;
  /** Variables for the suite, which works in the folder. */
  readonly env: (folder: string) => Readonly<Record<string, string>>;
}

export interface SuiteRun extends Outcome {
  /** Scenarios with a failed test; the empty name stands for a failure outside of them. */
  readonly groups: readonly string[];
}

export async function runSuite({ suite, names, timeoutMs, env }: AskedSuite): Promise<SuiteRun> {
  const folder = makeFolder();
  try {
    const report = join(folder, "report.xml");
    const reporter = ["--reporter=junit", "--reporter-outfile", report];
    const command = [process.execPath, "test", "--timeout", String(timeoutMs), ...reporter, `./${suite}`];
    const status = await runApart(command, env(folder));
    if (status !== 0) keepLogs(folder);
    return runOf({ report: readReport(report), status }, suite, names);
  } finally {
    removeFolder(folder);
  }
}

function runOf(ended: EndedRun, suite: string, names: readonly string[]): SuiteRun {
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
