/**
 * Runs `bun test` and counts. A file with a failed test is run once more, alone: many tests here wait for real
 * processes on a machine that may be busy. What passes then is named as unsteady, which is a defect to mend, and does
 * not fail the run.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { atLeastOneFailure, junitCounts, type Counts } from "./counts.ts";
import { failedFiles } from "./failed-files.ts";

const root = resolve(import.meta.dirname, "../..");
/** More files than this that fail are no matter of a busy machine. */
const secondLookFilesMax = 3;

export interface BunTest {
  readonly where: readonly string[];
  /** Longest a single test may take. */
  readonly timeoutMs: number;
  /** No second look. */
  readonly once?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export function bunTest(asked: BunTest): Counts {
  const first = run(asked);
  const again = asked.once === true || first.failed.length > secondLookFilesMax ? [] : first.failed;
  if (again.length === 0) return first.counts;
  console.log(`\n— once more, alone: ${again.join(", ")}`);
  const second = run({ ...asked, where: again.map((file) => `./${file}`) });
  if (second.counts.failed > 0) return first.counts;
  console.log(`\nunsteady: ${first.counts.failed} failed at first and passed alone, in ${again.join(", ")}`);
  return { passed: first.counts.passed + first.counts.failed, failed: 0 };
}

interface Run {
  readonly counts: Counts;
  readonly failed: readonly string[];
}

function run({ where, timeoutMs, env }: BunTest): Run {
  const folder = mkdtempSync(join(tmpdir(), "levee-test-"));
  try {
    const report = join(folder, "report.xml");
    const reporter = ["--reporter=junit", "--reporter-outfile", report];
    const { status } = spawnSync(
      process.execPath,
      ["test", "--isolate", "--timeout", String(timeoutMs), ...reporter, ...where],
      // What tests leave behind is left in here.
      { cwd: root, env: { ...process.env, ...env, TMPDIR: folder }, stdio: "inherit" },
    );
    const text = readReport(report);
    return { counts: atLeastOneFailure(junitCounts(text), status), failed: failedFiles(text) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The runner ended before it wrote one: counted as a failure by its exit code.
    return "";
  }
}
