/**
 * All tests: what the machine needs, the build, the shim's unit tests, then everything under src, scripts, bench and test.
 * `npm test -- src/wire` runs only the TypeScript tests named. The last line is the sum over both runners.
 * `--once` does not look twice at a file that failed (see test/bun-test.ts).
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "./build.ts";
import { ensurePrerequisites } from "./prerequisites.ts";
import { bunTest } from "./test/bun-test.ts";
import { addCounts, atLeastOneFailure, cargoCounts, summaryLine, type Counts } from "./test/counts.ts";

const root = resolve(import.meta.dirname, "..");
/** Longest a single test may take: tests with real plugins wait for real processes. */
const testTimeoutMs = 60_000;

const filters = process.argv.slice(2).filter((argument) => argument !== "--once");
const once = process.argv.includes("--once");
if (!ensurePrerequisites("test")) process.exit(1);
buildOrEnd();
const counts = [...(filters.length === 0 ? [shimTests()] : []), await typescriptTests(filters)];
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

function typescriptTests(paths: readonly string[]): Promise<Counts> {
  console.log("\n— TypeScript: bun test");
  const where = paths.length > 0 ? paths : ["./src/", "./scripts/", "./bench/", ...testFolders()];
  return bunTest({ where, timeoutMs: testTimeoutMs, once });
}

/** All but the suite that needs a cluster's real parts: `npm run e2e`. */
function testFolders(): readonly string[] {
  return readdirSync(join(root, "test"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "e2e")
    .map((entry) => `./test/${entry.name}/`);
}
