import { expect, test } from "bun:test";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const source = resolve(import.meta.dirname, "../..");
/** The simulated daemon opens its source of pods itself, and it is never a folder. */
const notOfTheDaemon = ["daemon/source/kube-source.ts", "daemon/source/directory-view.ts", "directory/directory.ts"];

test("every part that the daemon loads late is here from the start", () => {
  const listed = imports("sim/node/late-parts.ts", /^import "(\.[^"]+)"/gmu);
  const late = globSync("{daemon,hands,kube,state}/**/*.ts", { cwd: source })
    .filter((path) => !path.endsWith(".test.ts") && !path.endsWith(".fixture.ts"))
    .flatMap((path) => imports(path, /\bimport\("(\.[^"]+)"\)/gu))
    .filter((path) => !notOfTheDaemon.includes(path));
  expect(late).not.toBeEmpty();
  expect(listed).toEqual([...new Set(late)].toSorted());
});

test("the guard loads nothing late", () => {
  const late = globSync("guard/**/*.ts", { cwd: source }).flatMap((path) => imports(path, /\bimport\("(\.[^"]+)"\)/gu));
  expect(late).toEqual([]);
});

/** The files that one file names in this way, from src/. */
function imports(path: string, pattern: RegExp): readonly string[] {
  const text = readFileSync(join(source, path), "utf8");
  return [...text.matchAll(pattern)].map((found) => relative(source, resolve(source, dirname(path), found[1] ?? "")));
}
