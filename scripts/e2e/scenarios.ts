/**
 * Runs scenarios on a cluster of one node, in namespaces of its own. Those that failed are run once more, on a new
 * cluster: what passes then is named as unsteady (see ../test/bun-test.ts).
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder, removeFolder, runApart } from "../../test/e2e/apart.ts";
import type { Surroundings } from "../../test/e2e/the-cluster.ts";
import { readReport } from "../test/bun-test.ts";
import { atLeastOneFailure, junitCounts } from "../test/counts.ts";
import { failedTests, testTitle } from "../test/failed-tests.ts";
import { nothingRan, withSecondLook, type Outcome } from "../test/outcome.ts";

const root = resolve(import.meta.dirname, "../..");
/** More of them that fail are no matter of a busy machine. */
const secondLookScenariosMax = 3;

export type Around = Omit<Surroundings, "folder">;

export interface ScenarioRun {
  readonly around: Around;
  readonly names: readonly string[];
  /** Longest a single one may take. */
  readonly timeoutMs: number;
}

export function runScenarios(asked: ScenarioRun): Outcome {
  if (asked.names.length === 0) return nothingRan;
  const first = runOnce(asked);
  // Whatever failed outside of every scenario, as a cluster that did not start, failed for all.
  const again = first.groups.includes("") ? asked.names : asked.names.filter((name) => first.groups.includes(name));
  if (again.length === 0 || (again.length > secondLookScenariosMax && again !== asked.names)) return first;
  console.log(`\n— once more, on a new cluster: ${again.join(", ")}`);
  return withSecondLook(first, runOnce({ ...asked, names: again }));
}

interface Run extends Outcome {
  /** Scenarios with a failed test; empty for what failed outside of them. */
  readonly groups: readonly string[];
}

function runOnce({ around, names, timeoutMs }: ScenarioRun): Run {
  const folder = makeFolder();
  try {
    const report = join(folder, "report.xml");
    const reporter = ["--reporter=junit", "--reporter-outfile", report];
    const command = [process.execPath, "test", "--timeout", String(timeoutMs), ...reporter, "./test/e2e/suite.ts"];
    const surroundings: Surroundings = { ...around, folder };
    const status = runApart(command, {
      LEVEE_E2E: JSON.stringify(surroundings),
      LEVEE_E2E_ONLY: names.join(","),
    });
    if (status !== 0) keepLogs(folder);
    return runOf(readReport(report), status);
  } finally {
    removeFolder(folder);
  }
}

function runOf(report: string, status: number): Run {
  const counts = atLeastOneFailure(junitCounts(report), status);
  const named = failedTests(report);
  const failed =
    counts.failed > 0 && named.length === 0
      ? [{ file: "test/e2e/suite.ts", group: "", name: `bun test ended with ${status} and named no test` }]
      : named;
  return { counts, failed: failed.map(testTitle), unsteady: [], groups: failed.map(({ group }) => group) };
}

/** Of a run that failed, for whoever looks into it. */
function keepLogs(folder: string): void {
  const kept = join(root, ".cache/e2e-logs");
  if (!existsSync(join(folder, "logs"))) return;
  rmSync(kept, { recursive: true, force: true });
  cpSync(join(folder, "logs"), kept, { recursive: true });
  console.error(`The logs of all programs are in ${kept}`);
}
