import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../failure-of.fixture.ts";
import { vendoredPlace, prepareFolder, vendorPathProblem } from "./vendor-path.ts";

let root: string;
let outside: string;

beforeAll(() => {
  outside = mkdtempSync(join(tmpdir(), "levee-vendor-outside-"));
  root = mkdtempSync(join(tmpdir(), "levee-vendor-path-"));
  mkdirSync(join(root, "apps/cdi"), { recursive: true });
  writeFileSync(join(root, "apps/plain.yaml"), "");
  mkdirSync(join(root, "apps/folder.yaml"));
  symlinkSync(outside, join(root, "apps/away"));
  symlinkSync("cdi", join(root, "apps/near"));
  symlinkSync(join(outside, "target.yaml"), join(root, "apps/cdi/link.yaml"));
});
afterAll(() => {
  rmSync(root, { recursive: true });
  rmSync(outside, { recursive: true });
});

describe("vendorPathProblem", () => {
  test.each(["a.yaml", "apps/cdi/cdi-operator.yaml", "apps/x y/ä.yml", "apps/..x/a.yaml"])("takes %s", (path) => {
    expect(vendorPathProblem(path)).toBeUndefined();
  });

  test.each([
    ["../a.yaml", "climb"],
    ["apps/../../a.yaml", "climb"],
    ["apps//a.yaml", "climb"],
    ["./a.yaml", "climb"],
    ["/etc/a.yaml", "relative"],
    [".git/hooks/a.yaml", ".git"],
    ["apps/.GIT/a.yaml", ".git"],
    ["apps\\..\\a.yaml", "backslash"],
    ["apps/a\n.yaml", "control character"],
    ["apps/a.yaml\0.png", "control character"],
    ["apps/cdi/README.md", "must end in .yaml"],
    ["hooks/pre-commit", "must end in .yaml"],
    [`${"a".repeat(240)}.yaml`, "more than 240"],
    ["", "climb"],
  ])("refuses %j", (path, why) => {
    expect(vendorPathProblem(path)).toContain(why);
  });
});

describe("vendoredPlace", () => {
  test("is below the root, whether it exists or not", async () => {
    expect(await vendoredPlace(root, "apps/plain.yaml")).toBe(join(root, "apps/plain.yaml"));
    expect(await vendoredPlace(root, "new/folder/a.yaml")).toBe(join(root, "new/folder/a.yaml"));
  });

  test.each([
    ["apps/away/a.yaml", "apps/away is a symbolic link"],
    ["apps/near/a.yaml", "apps/near is a symbolic link"],
    ["apps/cdi/link.yaml", "apps/cdi/link.yaml is a symbolic link"],
    ["apps/folder.yaml", "apps/folder.yaml is not a file"],
    ["apps/plain.yaml/a.yaml", "apps/plain.yaml is not a folder"],
    ["../a.yaml", "it must not climb"],
  ])("refuses %s", async (path, why) => {
    expect((await failureOf(vendoredPlace(root, path))).message).toContain(why);
  });
});

test("prepareFolder refuses a link where the temporary file would be written through", async () => {
  const place = join(root, "apps/cdi/a.yaml");
  writeFileSync(`${place}.tmp`, "rest of a killed run");
  await prepareFolder(place);
  rmSync(`${place}.tmp`);
  symlinkSync(join(outside, "victim"), `${place}.tmp`);
  expect((await failureOf(prepareFolder(place))).message).toContain("it is in the way and no plain file");
});
