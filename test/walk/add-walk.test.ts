/**
 * ARCHITECTURE.md names the files of one ADD, and a check counts them. Here a real ADD shows that the list is complete:
 * coverage of a daemon without and with an ADD says which files ran for it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { filesOfWalk, isOfWalk } from "../../scripts/check/code/walk.ts";

const root = join(import.meta.dir, "../..");

test("the walk of one ADD in ARCHITECTURE.md names every file that a reader follows", () => {
  const without = linesRun(0);
  const ran = [...linesRun(1)].filter(([file, runs]) => runs > (without.get(file) ?? 0)).map(([file]) => file);
  expect(ran).toContain("src/daemon/attach/add.ts");
  const listed = filesOfWalk(readFileSync(join(root, "ARCHITECTURE.md"), "utf8"));
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  expect(ran.filter((file) => isOfWalk(file, ran, read) && !listed.includes(file))).toEqual([]);
}, 60_000);

/** How often lines of each file ran, all together. */
function linesRun(adds: number): ReadonlyMap<string, number> {
  const folder = mkdtempSync(join(tmpdir(), "levee-walk-"));
  try {
    const coverage = ["--coverage", "--coverage-reporter=lcov", `--coverage-dir=${folder}`];
    const args = ["test", ...coverage, "./test/walk/one-add.trace.ts"];
    const env = { ...process.env, LEVEE_ADDS: String(adds) };
    const run = spawnSync(process.execPath, args, { cwd: root, env, encoding: "utf8" });
    expect({ status: run.status, stderr: run.status === 0 ? "" : run.stderr }).toEqual({ status: 0, stderr: "" });
    return parseLcov(readFileSync(join(folder, "lcov.info"), "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function parseLcov(text: string): ReadonlyMap<string, number> {
  const runs = new Map<string, number>();
  for (const record of text.split("end_of_record")) {
    const file = /^SF:(.+)$/mu.exec(record)?.[1];
    if (file === undefined) continue;
    const counts = [...record.matchAll(/^DA:\d+,(\d+)/gmu)].map(([, count]) => Number(count));
    runs.set(
      file,
      counts.reduce((sum, count) => sum + count, 0),
    );
  }
  return runs;
}
