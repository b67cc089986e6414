/**
 * Files and groups that should have run and are not in a JUnit report. Bun leaves out a file or group that it could not
 * load, and only its exit code shows that. Beside a test that fails and passes in a second run it would be missed. Without
 * a report nothing is known.
 */
import { globSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import type { FailedTest } from "./failed-tests.ts";
import { oomSuffix } from "./oom-files.ts";

/** Files with tests below these paths, as the report names them. */
export function unreportedFiles(root: string, where: readonly string[], report: string): readonly FailedTest[] {
  if (report === "") return [];
  const wanted = where.flatMap((path) => testFiles(root, path));
  return wanted
    .filter((file) => !report.includes(` file="${file}"`))
    .map((file) => ({ file, group: "", name: "could not be loaded" }));
}

export function unreportedGroups(file: string, groups: readonly string[], report: string): readonly FailedTest[] {
  if (report === "") return [];
  return groups
    .filter((group) => !report.includes(`<testsuite name="${group}" `))
    .map((group) => ({ file, group, name: "could not be loaded" }));
}

/** None for a path that is only a part of a name, which Bun accepts too. */
function testFiles(root: string, path: string): readonly string[] {
  const place = join(root, path);
  const found = statSync(place, { throwIfNoEntry: false });
  if (found?.isFile() === true) return [relative(root, place)];
  return found === undefined
    ? []
    : globSync("**/*.test.ts", { cwd: place })
        .filter((file) => !file.endsWith(oomSuffix))
        .map((file) => relative(root, join(place, file)));
}
