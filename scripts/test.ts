/**
 * All tests: what the machine needs, the build, the shim's unit tests, then everything under src, scripts, bench and test.
 * `npm test -- src/wire` runs only the TypeScript tests named. The last line is the sum over both runners.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "./build.ts";
import { ensurePrerequisites } from "./prerequisites.ts";
import { addCounts, cargoCounts, junitCounts, summaryLine, type Counts } from "./test/counts.ts";

const root = resolve(import.meta.dirname, "..");
/** Longest a single test may take: tests with real plugins wait for real processes. */
const testTimeoutMs = 60_000;

const filters = process.argv.slice(2);
if (!ensurePrerequisites("test")) process.exit(1);
buildOrEnd();
const counts = [...(filters.length === 0 ? [shimTests()] : []), typescriptTests(filters)];
const sum = counts.reduce(addCounts);
console.log(`\n${summaryLine(sum)}`);
process.exit(sum.failed === 0 && sum.passed > 0 ? 0 : 1);

/** Without the programs there is nothing to test: said as a failure, in the form the last line always has. */
function buildOrEnd(): void {
  try {
    build({ shimOnly: false });
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : String(thrown));
    console.log(`\n${summaryLine({ passed: 0, failed: 1 })}`);
    process.exit(1);
  }
}

function shimTests(): Counts {
  console.log("\n— shim: cargo test");
  const { status, stdout } = spawnSync("cargo", ["test", "--offline", "--quiet"], {
    cwd: join(root, "shim"),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.stdout.write(stdout);
  return atLeastOneFailure(cargoCounts(stdout), status);
}

function typescriptTests(paths: readonly string[]): Counts {
  console.log("\n— TypeScript: bun test");
  const folder = mkdtempSync(join(tmpdir(), "levee-test-"));
  try {
    const report = join(folder, "report.xml");
    const args = [
      "test",
      "--isolate",
      "--timeout",
      String(testTimeoutMs),
      "--reporter=junit",
      "--reporter-outfile",
      report,
    ];
    const where = paths.length > 0 ? paths : ["./src/", "./scripts/", "./bench/", ...testFolders()];
    // What tests leave behind is left in here.
    const env = { ...process.env, TMPDIR: folder };
    const { status } = spawnSync(process.execPath, [...args, ...where], { cwd: root, env, stdio: "inherit" });
    return atLeastOneFailure(junitCounts(readReport(report)), status);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All but the suite that needs a cluster's real parts: `npm run e2e`. */
function testFolders(): readonly string[] {
  return readdirSync(join(root, "test"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "e2e")
    .map((entry) => `./test/${entry.name}/`);
}

function readReport(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The runner ended before it wrote one: counted as a failure by its exit code.
    return "";
  }
}

/** A runner that ends badly without naming a failed test (a crash, a build error) still counts as one failure. */
function atLeastOneFailure(counts: Counts, status: number | null): Counts {
  return status === 0 || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}
