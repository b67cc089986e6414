import { expect, test } from "bun:test";
import { fileNames } from "./file-names.ts";
import { problemsIn } from "../planted.ts";

test.each([
  "src/base/atomic-file.ts",
  "src/base/atomic-file.test.ts",
  "README.md",
  "LICENSE",
  ".oxlintrc.json",
  "shim/Cargo.toml",
  "shim/.cargo/config.toml",
  "shim/src/net_link.rs",
  "docs/adr/0001-brain-and-hands.md",
  "docs/runbooks/MultusOOMLoop.md",
])("file-names accepts %s", async (path) => {
  expect(await problemsIn(fileNames, { [path]: "" })).toEqual([]);
});

test.each(["src/base/atomicFile.ts", "src/base/Atomic.ts", "src/base/atomic_file.ts", "src/Base/a.ts"])(
  "file-names refuses %s as not kebab-case",
  async (path) => {
    expect(await problemsIn(fileNames, { [path]: "" })).toEqual([`${path}:0 the name is not kebab-case`]);
  },
);

test.each([
  "src/base/utils.ts",
  "src/helpers/a.ts",
  "src/cni/json-util.ts",
  "src/common.ts",
  "src/daemon/pod-manager.ts",
])("file-names refuses %s as a magnet", async (path) => {
  expect(await problemsIn(fileNames, { [path]: "" })).toEqual([`${path}:0 the name says nothing about the content`]);
});
