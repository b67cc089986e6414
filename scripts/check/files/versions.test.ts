import { expect, test } from "bun:test";
import { shortly } from "../planted.ts";
import { plantedTree } from "../tree.ts";
import { versionProblems } from "./versions.ts";

const texts = {
  "package.json": '{\n  "name": "levee",\n  "version": "1.2.3"\n}',
  "package-lock.json": '{\n  "version": "1.2.3"\n}',
  "shim/Cargo.toml": '[package]\nversion = "1.2.3"\nrust-version = "1.63"\n',
  "shim/Cargo.lock": '[[package]]\nname = "levee-shim"\nversion = "1.2.3"\n',
  "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (unreleased)\n\n## 1.2.2\n",
  "deploy/helm/levee/Chart.yaml": "version: 1.2.3\nappVersion: 1.2.3\n",
};

test("versionProblems accepts one version everywhere", () => {
  expect(versionProblems(plantedTree(texts), "1.2.3")).toEqual([]);
});

test("versionProblems finds the file that was forgotten", () => {
  const planted = { ...texts, "shim/Cargo.toml": '[package]\nversion = "1.2.2"\n', "CHANGELOG.md": "# Changelog\n" };
  const chart = { "deploy/helm/levee/Chart.yaml": "version: 1.2.3\nappVersion: 1.2.2\n" };
  expect(versionProblems(plantedTree({ ...planted, ...chart }), "1.2.3").map(shortly)).toEqual([
    "shim/Cargo.toml:0 the version is 1.2.2, in src/base/version.ts it is 1.2.3",
    "CHANGELOG.md:0 the version is missing, in src/base/version.ts it is 1.2.3",
    "deploy/helm/levee/Chart.yaml:0 the version is 1.2.2, in src/base/version.ts it is 1.2.3",
  ]);
});
