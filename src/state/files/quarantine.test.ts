import { describe, expect, test } from "bun:test";
import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listQuarantine, putAside, quarantineFilesMax, quarantineFolder, type Damage } from "./quarantine.ts";
import { aFolder } from "../journal/record.fixture.ts";

const damage: Damage = {
  source: "journal",
  offset: 7,
  content: Buffer.from([0, 255, 10, 1]),
  reason: "it is odd",
  foundWallMs: 5,
};

describe("putAside", () => {
  test("keeps the bytes under a line that says what they are", async () => {
    const folder = await aFolder();
    const entry = await putAside(folder, damage);
    const file = await readFile(join(quarantineFolder(folder), entry.name));
    const newline = file.indexOf(0x0a);
    expect(JSON.parse(file.toString("utf8", 0, newline))).toMatchObject({
      source: "journal",
      offset: 7,
      bytes: 4,
      reason: "it is odd",
    });
    expect(file.subarray(newline + 1)).toEqual(Buffer.from(damage.content));
    expect((await stat(quarantineFolder(folder))).mode & 0o777).toBe(0o700);
    expect(await listQuarantine(folder)).toEqual([entry]);
  });

  test("the same finding is one file; another file or another place is another", async () => {
    const folder = await aFolder();
    await putAside(folder, damage);
    await putAside(folder, damage);
    expect(await listQuarantine(folder)).toHaveLength(1);
    await putAside(folder, { ...damage, offset: 8 });
    await putAside(folder, { ...damage, fileName: "a.del" });
    await putAside(folder, { ...damage, fileName: "b.del" });
    expect(await listQuarantine(folder)).toHaveLength(4);
  });

  test("makes room for a new finding at its limit: the oldest file goes", async () => {
    const folder = await aFolder();
    await mkdir(quarantineFolder(folder));
    for (let number = 0; number < quarantineFilesMax; number += 1) {
      const path = join(quarantineFolder(folder), `journal-${number}.bad`);
      await writeFile(path, "");
      if (number === 5) await utimes(path, 1, 1);
    }
    const { name } = await putAside(folder, damage);
    const names = await readdir(quarantineFolder(folder));
    expect(names).toHaveLength(quarantineFilesMax);
    expect(names).toContain(name);
    expect(names).not.toContain("journal-5.bad");
    expect(await listQuarantine(folder)).toHaveLength(quarantineFilesMax);
  });

  test("a long reason is cut, so that it can be read back", async () => {
    const folder = await aFolder();
    await putAside(folder, { ...damage, reason: "r".repeat(10_000) });
    expect(await listQuarantine(folder)).toMatchObject([{ source: "journal", reason: "r".repeat(500) }]);
  });
});

describe("listQuarantine", () => {
  test("is empty without a folder and fails on a folder that cannot be listed", async () => {
    const folder = await aFolder();
    expect(await listQuarantine(folder)).toEqual([]);
    await writeFile(quarantineFolder(folder), "not a folder");
    expect(listQuarantine(folder)).rejects.toThrow("ENOTDIR");
  });
});
