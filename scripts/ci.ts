/**
 * Everything that CI runs after `npm ci` (see .ci/run): the machine's prerequisites, the build, the tests beside the
 * checks, and a real cluster if Go is installed. The last lines name the slowest parts, the failed tests and the sum.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { findGo } from "../test/peers/go-tool.ts";
import { makeReady } from "./make-ready.ts";
import { ensurePrerequisites } from "./prerequisites.ts";
import { leftOutcome, outcomeVariable } from "./test/left-outcome.ts";
import { runLoudly, runQuietly } from "./test/run-to-end.ts";
import { addOutcomes, isGood, lastLines, nothingRan, type Outcome } from "./test/outcome.ts";

const root = resolve(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "levee-ci-"));
const hasGo = findGo() !== undefined;
const peersCommand = ["nice", "-n", "19", "npm", "run", "--silent", "e2e", "--", "--peers"];

try {
  process.exitCode = await main();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function main(): Promise<number> {
  // Before the parts run at the same time: two of them cannot install packages at once.
  if (!makeReady("test") || (hasGo && !ensurePrerequisites("e2e"))) return 1;
  // The first build of Kubernetes and Multus takes eleven minutes on two cores, so it runs beside the tests.
  const peers = hasGo ? runLoudly(peersCommand, { cwd: root, env: process.env }) : undefined;
  const first = await Promise.all([part("npm test", "shown"), part("npm run check", "kept")]);
  if (((await peers) ?? 0) !== 0)
    console.log("Not everything could be built beside the tests; npm run e2e tries again and says why");
  const isReady = first.every(({ counts }) => counts.failed === 0);
  const outcomes = isReady ? [...first, await part("npm run e2e", "shown")] : first;
  const outcome = outcomes.reduce<Outcome>(addOutcomes, nothingRan);
  console.log(lastLines(outcome));
  return isGood(outcome) ? 0 : 1;
}

/** Runs one command. The output of a `kept` one is shown when it has ended. */
async function part(name: string, output: "shown" | "kept"): Promise<Outcome> {
  const beganMs = performance.now();
  const own = join(folder, name.replaceAll(" ", "-"));
  console.log(`+ ${name}`);
  const around = { cwd: root, env: { ...process.env, [outcomeVariable]: `${own}.json` } };
  const status =
    output === "shown"
      ? await runLoudly(name.split(" "), around)
      : await runQuietly(name.split(" "), around, { file: `${own}.txt`, heading: `\n— ${name}\n` });
  const ms = performance.now() - beganMs;
  const outcome = leftOutcome(`${own}.json`, name, status);
  return { ...outcome, parts: [{ name: `${name}, all of it`, ms }, ...outcome.parts] };
}
