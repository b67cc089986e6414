import { expect, test } from "bun:test";
import { shortly } from "../planted.ts";
import { manifestProblems } from "./shim.ts";
import { plantedTree } from "../tree.ts";

function problems(manifest: string): readonly string[] {
  return manifestProblems(plantedTree({ "shim/Cargo.toml": manifest })).map(shortly);
}

test("manifestProblems accepts a manifest without crates", () => {
  expect(
    problems('[package]\nname = "levee-shim"\n\n[dependencies]\n# none\n\n[profile.release]\nlto = "fat"\n'),
  ).toEqual([]);
});

test.each([
  ['[dependencies]\nlibc = "0.2"', 'shim/Cargo.toml:2 the shim gets a crate: libc = "0.2"'],
  ['[dev-dependencies]\ntempfile = "3"', 'shim/Cargo.toml:2 the shim gets a crate: tempfile = "3"'],
  ["[target.'cfg(unix)'.dependencies]\nnix = \"1\"", 'shim/Cargo.toml:2 the shim gets a crate: nix = "1"'],
  ['[dependencies.serde]\nversion = "1"', "shim/Cargo.toml:1 the shim gets a crate: [dependencies.serde]"],
])("manifestProblems refuses a crate, form %#", (manifest, problem) => {
  expect(problems(manifest)).toContain(problem);
});

test("manifestProblems finds that there is no shim", () => {
  expect(manifestProblems(plantedTree({})).map(shortly)).toEqual(["shim/Cargo.toml:0 there is no shim"]);
});
