/**
 * Runs `bun test` and counts. A file with a failed test runs once more, alone, because many tests wait for real processes
 * on a machine that may be busy. A test that passes then is reported as unsteady: a defect to mend that does not fail the
 * run.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { failuresOf, testTitle, type EndedRun } from "./failed-tests.ts";
import { reportedCounts } from "./counts.ts";
import { addOutcomes, nothingRan, withSecondLook, type Outcome } from "./outcome.ts";
import { runLoudly, runQuietly, type Surroundings } from "./run-to-end.ts";
import { filesToRunAgain } from "./second-look.ts";
import { filesByTime } from "./slowest.ts";
import { oomSuffix } from "./oom-files.ts";
import { unreportedFiles } from "./unreported.ts";

const root = resolve(import.meta.dirname, "../..");

export interface BunTest {
  readonly where: readonly string[];
  /** The limit for a single test. */
  readonly timeoutMs: number;
  /** No second run of failed files. */
  readonly once?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** How many parts of `where` run at once, in their order. The output of a part is shown when it has ended. */
  readonly lanes?: number;
  /** Other work that runs at the same time. The second run waits for it, so that it runs alone. */
  readonly beside?: Promise<unknown>;
}

export async function bunTest(asked: BunTest): Promise<Outcome> {
  const { lanes, beside, ...alone } = asked;
  const first = lanes === undefined ? await run(alone, loudly) : await inLanes(alone, lanes);
  const again = asked.once === true ? [] : filesToRunAgain(first.files);
  if (again.length === 0) return first;
  await beside;
  console.log(`\n— once more, alone: ${again.join(", ")}`);
  return withSecondLook(first, await run({ ...alone, where: again.map((file) => `./${file}`) }, loudly));
}

interface Run extends Outcome {
  /** Files with a failed test. */
  readonly files: readonly string[];
}

/** While some tests wait, others use the cores. */
async function inLanes(asked: BunTest, lanes: number): Promise<Run> {
  const waiting = [...asked.where];
  const runs: Run[] = [];
  const lane = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      console.log(`… ${part}`);
      runs.push(await run({ ...asked, where: [part] }, quietly));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { ...runs.reduce<Outcome>(addOutcomes, nothingRan), files: runs.flatMap(({ files }) => files) };
}

async function run({ where, timeoutMs, env }: BunTest, start: Start): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), "levee-test-"));
  // Tests that run a program as a user without rights have their folders in it.
  chmodSync(folder, 0o711);
  try {
    const report = join(folder, "report.xml");
    const reporter = ["--reporter=junit", "--reporter-outfile", report];
    const isNamed = where.some((path) => path.endsWith(oomSuffix));
    const without = isNamed ? [] : [`--path-ignore-patterns=**/*${oomSuffix}`];
    const args = ["test", "--isolate", "--timeout", String(timeoutMs), ...without, ...reporter, ...where];
    // The tests' temporary files go into this folder.
    const surroundings = { cwd: root, env: { ...process.env, ...env, TMPDIR: folder } };
    const status = await start(args, surroundings, folder);
    return runOf({ report: readReport(report), status }, where);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runOf(ended: EndedRun, where: readonly string[]): Run {
  const asked = where.map((path) => path.replace(/^\.\//u, ""));
  const failed = failuresOf(ended, unreportedFiles(root, where, ended.report), asked);
  const files = [...new Set(failed.map(({ file }) => file))].filter((file) => file.endsWith(".ts"));
  return {
    counts: reportedCounts(ended.report, ended.status),
    failed: failed.map(testTitle),
    unsteady: [],
    files,
    parts: filesByTime(ended.report),
  };
}

/** Resolves to the exit code. The folder exists until then. */
type Start = (args: readonly string[], surroundings: Surroundings, folder: string) => Promise<number | null>;

const loudly: Start = (args, surroundings) => runLoudly([process.execPath, ...args], surroundings);

const quietly: Start = (args, surroundings, folder) =>
  runQuietly([process.execPath, ...args], surroundings, { file: join(folder, "said.txt") });

export function readReport(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The runner ended before it wrote a report. Its exit code counts as the failure.
    return "";
  }
}
