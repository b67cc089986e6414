import { describe, expect, test } from "bun:test";
import { readdir, readFile, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { readJournalOnly } from "./read-only.ts";
import { aFolder, aRecord, attachIn, openIn, tokenOf } from "./record.fixture.ts";

async function contentOf(folder: string): Promise<readonly unknown[]> {
  const names = await readdir(folder);
  return Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { mtimeMs, size } = await stat(path);
      return [name, mtimeMs, size];
    }),
  );
}

describe("readJournalOnly", () => {
  test("shows what the journal holds and changes nothing, beside a running daemon too", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await journal.begin(aRecord(2));
    const before = await contentOf(folder);
    const reading = await readJournalOnly(folder);
    expect(reading.records).toEqual([...journal.all()]);
    expect(reading.genesis).toEqual(journal.stats().genesis);
    expect(reading.exists).toBe(true);
    expect(await contentOf(folder)).toEqual(before);
    await journal.close();
  });

  test("reads past a torn tail without cutting it, and tells of damage without moving it", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await journal.begin(aRecord(2));
    await journal.close();
    const path = join(folder, "journal.log");
    await truncate(path, (await stat(path)).size - 10);
    expect((await readJournalOnly(folder)).records.map(({ token }) => token)).toEqual([tokenOf(1)]);
    const file = await readFile(path);
    file[30] = 0;
    await Bun.write(path, file);
    const damaged = await readJournalOnly(folder);
    expect(damaged.quarantined).toMatchObject([{ source: "journal", reason: "its checksum is wrong" }]);
    expect(damaged.genesis).toBeUndefined();
    expect(damaged.records).toHaveLength(1);
    expect(await readdir(folder)).not.toContain("quarantine");
  });

  test("a node without a journal is empty, not an error", async () => {
    const reading = await readJournalOnly(join(await aFolder(), "none"));
    expect(reading).toEqual({ exists: false, genesis: undefined, records: [], leaks: [], quarantined: [] });
  });
});
