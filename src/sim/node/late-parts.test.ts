import { expect, test } from "bun:test";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const source = resolve(import.meta.dirname, "../..");
/** Places of late imports that no simulated daemon or guard comes to, and why. All others are here from the start. */
const notSimulated: Readonly<Record<string, string>> = {
  "cli/": "the commands of people, which compose a simulation but are no part of it",
  "console/": "the console serves its page itself",
  "daemon/health/": "nobody watches the health of a simulated node",
  "daemon/source/open-source.ts": "the simulated daemon opens its source of pods itself, and it is never a folder",
  "directory/": "no source of pods is a folder",
  "kube/access/kubeconfig-file.ts": "the simulated API server needs no kubeconfig",
  "kube/kubelet/grpc-call.ts": "no simulated pod has a device, for which the kubelet would be asked",
  "main.ts": "it chooses between daemon and commands",
};
/** Any call of import(), also of a package or of something that is only known when it runs. Types are no calls. */
const lateImport = /(?<!typeof )\bimport\(\s*(?:"([^"]+)"\s*\))?/gu;

test("every part that the daemon or the guard loads late is here from the start", () => {
  const listed = imports("sim/node/late-parts.ts", /^import "([^"]+)"/gmu);
  const late = lateFiles()
    .filter((path) => !Object.keys(notSimulated).some((place) => path.startsWith(place)))
    .flatMap((path) => imports(path, lateImport));
  expect(late).not.toBeEmpty();
  expect(listed).toEqual([...new Set(late)].toSorted());
});

test("every place that is not simulated does load something late", () => {
  const late = lateFiles();
  expect(Object.keys(notSimulated).filter((place) => !late.some((path) => path.startsWith(place)))).toEqual([]);
});

test.each([
  [`await import("./part.ts")`, ["base/part.ts"]],
  [`import("node:http2"), import(\n  "yaml"\n)`, ["node:http2", "yaml"]],
  ["await import(name)", ["something unknown"]],
  [`type Yaml = typeof import("yaml")`, []],
  [`import { part } from "./part.ts"`, []],
])("a late import is found in %s", (text, found) => {
  expect(importsIn(text, "base/file.ts", lateImport)).toEqual(found);
});

/** From src/. */
function lateFiles(): readonly string[] {
  return globSync("**/*.ts", { cwd: source })
    .filter((path) => !path.endsWith(".test.ts") && !path.endsWith(".fixture.ts"))
    .filter((path) => imports(path, lateImport).length > 0);
}

function imports(path: string, pattern: RegExp): readonly string[] {
  return importsIn(readFileSync(join(source, path), "utf8"), path, pattern);
}

/** What one file names in this way: packages, and files from src/. */
function importsIn(text: string, path: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name = "something unknown"]) =>
    name.startsWith(".") ? relative(source, resolve(source, dirname(path), name)) : name,
  );
}
