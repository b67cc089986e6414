import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "./limits.ts";
import { compareNames, listFiles, type Listing } from "./listing.ts";

let parent: string;
let folder: string;

beforeEach(() => {
  parent = realpathSync(mkdtempSync(join(tmpdir(), "levee-listing-")));
  folder = join(parent, "folder");
  mkdirSync(folder);
});

afterEach(() => rmSync(parent, { recursive: true, force: true }));

function touch(file: string): void {
  mkdirSync(join(folder, file, ".."), { recursive: true });
  writeFileSync(join(folder, file), "");
}

async function list(): Promise<Listing & { readonly names: readonly string[] }> {
  const listing = await listFiles(folder, () => undefined);
  return { ...listing, names: listing.files.map(({ name }) => name) };
}

describe("listFiles finds", () => {
  test("YAML and JSON files, by name, one level deep", async () => {
    for (const file of ["b.yaml", "a.yml", "c.json", "sub/a.yaml", "d.yamlx", "e.YAML", "yaml", "sub/deep/f.yaml"])
      touch(file);
    expect((await list()).names).toEqual(["a.yml", "b.yaml", "c.json", "sub/a.yaml"]);
  });

  test("each folder before it reads it, with its identity", async () => {
    touch("one/a.yaml");
    touch("two/b.yaml");
    const seen: string[] = [];
    await listFiles(folder, (path, identity) => {
      expect(identity).toMatch(/^\d+:\d+$/u);
      seen.push(path);
    });
    expect(seen).toEqual([folder, join(folder, "one"), join(folder, "two")]);
  });

  test("files behind links that stay inside", async () => {
    touch(".store/a.yaml");
    symlinkSync(".store/a.yaml", join(folder, "link.yaml"));
    symlinkSync(".store", join(folder, "sub"));
    const listing = await list();
    expect(listing.files).toEqual([{ name: "link.yaml", real: join(folder, ".store/a.yaml") }]);
    expect(listing.problems).toEqual([]);
  });

  test("the folder itself behind a link", async () => {
    touch("a.yaml");
    symlinkSync("folder", join(parent, "alias"));
    expect((await listFiles(join(parent, "alias"), () => undefined)).files.map(({ name }) => name)).toEqual(["a.yaml"]);
  });

  test("a file with a strange name", async () => {
    touch("a\nb|`$(x).yaml");
    expect((await list()).names).toEqual(["a\nb|`$(x).yaml"]);
  });
});

describe("listFiles leaves out", () => {
  test("links that lead out of the folder, and says so", async () => {
    writeFileSync(join(parent, "secret.yaml"), "");
    mkdirSync(join(parent, "outside"));
    writeFileSync(join(parent, "outside", "b.yaml"), "");
    mkdirSync(join(parent, "folder-twin"));
    writeFileSync(join(parent, "folder-twin", "c.yaml"), "");
    symlinkSync("../secret.yaml", join(folder, "a.yaml"));
    symlinkSync("/etc/passwd", join(folder, "passwd.yaml"));
    symlinkSync("../outside", join(folder, "sub"));
    symlinkSync("../folder-twin", join(folder, "twin"));
    symlinkSync("..", join(folder, "up"));
    const listing = await list();
    expect(listing.names).toEqual([]);
    expect(listing.problems.map(({ file }) => file)).toEqual(["a.yaml", "passwd.yaml", "sub", "twin", "up"]);
    for (const { reason } of listing.problems)
      expect(reason).toBe("Cannot follow the link as it must stay inside the folder: it leads out of it");
  });

  test("links that lead nowhere or in a circle, with a problem for those with a right name", async () => {
    symlinkSync("absent", join(folder, "a.yaml"));
    symlinkSync("b.yaml", join(folder, "b.yaml"));
    symlinkSync("absent", join(folder, "other"));
    const listing = await list();
    expect(listing.names).toEqual([]);
    expect(listing.problems.map(({ file }) => file)).toEqual(["a.yaml", "b.yaml"]);
  });

  test("a link to the folder itself, which would list everything twice", async () => {
    touch("a.yaml");
    symlinkSync(".", join(folder, "self"));
    expect((await list()).names).toEqual(["a.yaml"]);
  });

  test("pipes and folders with a file's name", async () => {
    execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
    mkdirSync(join(folder, "folder.yaml"));
    expect(await list()).toMatchObject({ names: [], problems: [] });
  });

  test("the last files by name when there are too many", async () => {
    for (let index = 0; index <= limits.filesMax; index += 1)
      writeFileSync(join(folder, `f${String(index).padStart(6, "0")}.yaml`), "");
    const listing = await list();
    expect(listing.files).toHaveLength(limits.filesMax);
    expect(listing.files.at(-1)?.name).toBe("f009999.yaml");
    expect(listing.problems[0]?.reason).toContain("current number is 10001");
  }, 30_000);

  test("sub-folders past the limit", async () => {
    for (let index = 0; index <= limits.subFoldersMax; index += 1) touch(`s${String(index).padStart(4, "0")}/a.yaml`);
    const listing = await list();
    expect(listing.files).toHaveLength(limits.subFoldersMax);
    expect(listing.problems[0]?.reason).toContain("Cannot read all sub-folders");
  });
});

test("listFiles throws when the folder itself is gone", async () => {
  rmSync(folder, { recursive: true });
  const thrown: unknown = await listFiles(folder, () => undefined).catch((error: unknown) => error);
  expect(String(thrown)).toContain("ENOENT");
});

test("compareNames orders by code unit", () => {
  expect(["b", "a", "Z", "a/b", "a.b", "é"].toSorted(compareNames)).toEqual(["Z", "a", "a.b", "a/b", "b", "é"]);
  expect(compareNames("a", "a")).toBe(0);
});
