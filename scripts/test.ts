/**
 * All tests: prerequisites, build, the shim's unit tests, then everything under src, console, scripts, bench and test.
 * `npm test -- src/wire` runs only the TypeScript tests named. The last line is the sum over both runners.
 * `--once` does not run a failed file a second time (see test/bun-test.ts).
 */
import { spawnSync } from "node:child_process";
import { globSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "./build.ts";
import { ensurePrerequisites } from "./prerequisites.ts";
import { bunTest } from "./test/bun-test.ts";
import { atLeastOneFailure, cargoCounts } from "./test/counts.ts";
import { leaveOutcome } from "./test/left-outcome.ts";
import { oomFiles } from "./test/oom-files.ts";
import { addOutcomes, isGood, lastLines, nothingRan, type Outcome } from "./test/outcome.ts";

const root = resolve(import.meta.dirname, "..");
/** The limit for a single test: tests with real plugins wait for real processes. */
const testTimeoutMs = 60_000;

/** Folders that run at once. A test has its own node, ports and names, and waits half of its time, so three fill two cores. */
const lanes = 3;
/** These begin first, so that all lanes end at about the same time. */
const slowFolders = [
  "./test/conformance/",
  "./test/crash/",
  "./test/sim/",
  "./src/",
  "./test/hostile/",
  "./test/shim/",
  "./test/alerts/",
];
/** These measure memory and time, so they run alone. */
const aloneFolders = ["./test/budget/", "./test/storm/"];

const filters = process.argv.slice(2).filter((argument) => argument !== "--once");
const once = process.argv.includes("--once");
if (!ensurePrerequisites("test")) process.exit(1);
buildOrEnd();
const ofShim = filters.length === 0 ? shimTests() : nothingRan;
const outcome = addOutcomes(ofShim, await typescriptTests(filters));
console.log(lastLines(outcome));
leaveOutcome(outcome);
process.exit(isGood(outcome) ? 0 : 1);

/** The tests need the programs. A failed build ends with the usual last line. */
function buildOrEnd(): void {
  try {
    build({ shimOnly: false });
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : String(thrown));
    console.log(lastLines({ counts: { passed: 0, failed: 1 }, failed: ["the build"], unsteady: [], parts: [] }));
    process.exit(1);
  }
}

function shimTests(): Outcome {
  console.log("\n— shim: cargo test");
  const beganMs = performance.now();
  const { status, stdout } = spawnSync("cargo", ["test", "--offline", "--quiet"], {
    cwd: join(root, "shim"),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.stdout.write(stdout);
  const counts = atLeastOneFailure(cargoCounts(stdout), status);
  const name = "shim: cargo test";
  const parts = [{ name, ms: performance.now() - beganMs }];
  return { counts, failed: counts.failed > 0 ? [name] : [], unsteady: [], parts };
}

async function typescriptTests(paths: readonly string[]): Promise<Outcome> {
  console.log("\n— TypeScript: bun test");
  const common = { timeoutMs: testTimeoutMs, once };
  if (paths.length > 0) {
    const named = oomFiles(root, paths);
    const first = await bunTest({ where: paths, ...common });
    return named.length === 0 ? first : addOutcomes(first, await bunTest({ where: named, ...common }));
  }
  const folders = [...testFolders(), "./src/", "./console/", "./scripts/", "./bench/"].toSorted(bySlowness);
  const beside = folders.filter((folder) => !aloneFolders.includes(folder));
  const first = await bunTest({ where: beside, lanes, ...common });
  return addOutcomes(first, await bunTest({ where: [...aloneFolders, ...oomFiles(root)], ...common }));
}

function bySlowness(left: string, right: string): number {
  const place = (folder: string): number => (slowFolders.includes(folder) ? slowFolders.indexOf(folder) : Infinity);
  return left === right || place(left) === place(right) ? 0 : place(left) - place(right);
}

/** All folders with tests except e2e, which needs a real cluster: `npm run e2e`. */
function testFolders(): readonly string[] {
  return readdirSync(join(root, "test"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "e2e")
    .map((entry) => `./test/${entry.name}/`)
    .filter((folder) => globSync("**/*.test.ts", { cwd: join(root, folder) }).length > 0);
}
