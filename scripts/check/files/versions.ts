import { version as codeVersion } from "../../../src/base/version.ts";
import { fileRule, type Problem } from "../rule.ts";

/** One version everywhere: shim and daemon exchange theirs, and people compare them. */
export const versions = fileRule("versions", (tree) => versionProblems(tree, codeVersion));

interface Texts {
  read(path: string): string | undefined;
}

/** The other files with the version, and the pattern that finds it. */
const places: readonly { readonly file: string; readonly pattern: RegExp }[] = [
  { file: "package.json", pattern: /^\s*"version":\s*"([^"]+)"/m },
  { file: "package-lock.json", pattern: /^\s*"version":\s*"([^"]+)"/m },
  { file: "shim/Cargo.toml", pattern: /^version\s*=\s*"([^"]+)"/m },
  { file: "shim/Cargo.lock", pattern: /^name = "levee-shim"\nversion = "([^"]+)"/m },
  { file: "CHANGELOG.md", pattern: /^## (\S+)/m },
  { file: "deploy/helm/levee/Chart.yaml", pattern: /^version: (\S+)/m },
  { file: "deploy/helm/levee/Chart.yaml", pattern: /^appVersion: (\S+)/m },
];

export function versionProblems(texts: Texts, expected: string): readonly Problem[] {
  return places.flatMap(({ file, pattern }): readonly Problem[] => {
    const found = pattern.exec(texts.read(file) ?? "")?.[1];
    if (found === expected) return [];
    const message = `the version is ${found ?? "missing"}, in src/base/version.ts it is ${expected}`;
    return [{ file, line: 0, message, remedy: "Change all of them together" }];
  });
}
