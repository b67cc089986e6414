import { afterEach, describe, expect, test } from "bun:test";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import type { Journal } from "./journal.ts";
import { indexPath, journalPath } from "./journal-open.ts";
import { aFolder, aRecord, attachIn, containerId, openIn } from "./record.fixture.ts";

const sectorBytes = 512;
const folders: string[] = [];
const open: Journal[] = [];

afterEach(async () => {
  for (const journal of open.splice(0)) await journal.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function newFolder(): Promise<string> {
  const folder = await aFolder();
  folders.push(folder);
  return folder;
}

/** A daemon that has written something and is about to lose its power. */
async function running(write: (journal: Journal) => Promise<unknown>, from?: string): Promise<string> {
  const folder = from ?? (await newFolder());
  const journal = await openIn(folder);
  open.push(journal);
  await write(journal);
  return folder;
}

/** The folder after the cut, with zeros where the disk has not written. */
async function cut(folder: string, from: number, to: number): Promise<string> {
  const copy = await newFolder();
  await cp(folder, copy, { recursive: true });
  const file = await readFile(journalPath(copy));
  await writeFile(journalPath(copy), file.fill(0, from, to));
  return copy;
}

/** Where the line with this text begins and ends. */
async function placeOf(folder: string, text: string): Promise<{ start: number; end: number }> {
  const file = await readFile(journalPath(folder));
  const at = file.indexOf(text);
  expect(at).toBeGreaterThan(0);
  return { start: file.lastIndexOf(0x0a, at) + 1, end: file.indexOf(0x0a, at) + 1 };
}

async function read(folder: string): Promise<{ numbers: string[]; quarantined: number; stranger: string }> {
  const journal = await openIn(folder);
  const numbers = journal.all().map((record) => record.containerId.slice("container".length));
  const quarantined = journal.quarantined().length;
  const stranger = journal.knows(containerId("stranger"));
  await journal.close();
  return { numbers, quarantined, stranger };
}

/** The first whole sector of a line. */
function sectorIn({ start, end }: { start: number; end: number }): [number, number] {
  const from = Math.ceil(start / sectorBytes) * sectorBytes;
  expect(from + sectorBytes).toBeLessThan(end);
  return [from, from + sectorBytes];
}

describe("Journal after a power cut in the middle of a sync", () => {
  test("a hole anywhere in the last write is torn: the lines before it stay, and nothing goes to quarantine", async () => {
    const folder = await running(async (journal) => {
      await attachIn(journal, aRecord(1));
      // The first goes alone, the others together in the next write.
      await Promise.all([2, 3, 4, 5].map((number) => journal.begin(aRecord(number))));
    });
    const { start } = await placeOf(folder, '"container3"');
    const { end } = await placeOf(folder, '"container5"');
    const starts = await Promise.all([3, 4, 5].map((number) => placeOf(folder, `"container${number}"`)));
    for (let from = start; from < end; from += sectorBytes - (from % sectorBytes)) {
      const to = from - (from % sectorBytes) + sectorBytes;
      const copy = await cut(folder, from, to);
      const kept = ["1", "2", ...starts.flatMap((place, index) => (place.end <= from ? String(index + 3) : []))];
      const expected = { numbers: kept, quarantined: 0, stranger: "never-added" };
      expect(await read(copy)).toEqual(expected);
      await running((journal) => journal.begin(aRecord(9)), copy);
      expect(await read(await cut(copy, 0, 0))).toEqual({ ...expected, numbers: [...kept, "9"] });
    }
  });

  test("two holes and a last line without its end are torn too", async () => {
    const folder = await running(async (journal) => {
      await attachIn(journal, aRecord(1));
      await Promise.all([2, 3, 4, 5].map((number) => journal.begin(aRecord(number))));
    });
    const first = sectorIn(await placeOf(folder, '"container3"'));
    const second = sectorIn(await placeOf(folder, '"container5"'));
    const once = await cut(folder, ...first);
    expect(await read(await cut(once, second[0], second[1] + 4 * sectorBytes))).toEqual({
      numbers: ["1", "2"],
      quarantined: 0,
      stranger: "never-added",
    });
  });

  test("a hole that a later line shows to have been synced is damage", async () => {
    const folder = await running(async (journal) => {
      for (const number of [1, 2]) await attachIn(journal, aRecord(number));
      await journal.begin(aRecord(3));
      await journal.step(aRecord(3).token, { step: 1, result: undefined });
    });
    for (const number of [1, 2, 3]) {
      const copy = await cut(folder, ...sectorIn(await placeOf(folder, `"container${number}"`)));
      expect(await read(copy)).toMatchObject({ quarantined: 1, stranger: "lost" });
    }
  });

  test("a hole in front of the room is damage, though no later line shows it", async () => {
    const folder = await running(async (journal) => {
      for (let number = 1; number < 500; number += 1) await journal.begin(aRecord(number));
    });
    const copy = await cut(folder, ...sectorIn(await placeOf(folder, '"container3"')));
    const { numbers, quarantined, stranger } = await read(copy);
    expect({ count: numbers.length, quarantined, stranger }).toEqual({ count: 498, quarantined: 1, stranger: "lost" });
  });

  test("a hole in a file that was closed in order is damage", async () => {
    const folder = await running(async (journal) => {
      for (const number of [1, 2]) await journal.begin(aRecord(number));
    });
    await open.pop()?.close();
    const copy = await cut(folder, ...sectorIn(await placeOf(folder, '"container2"')));
    expect(await read(copy)).toEqual({ numbers: ["1"], quarantined: 1, stranger: "lost" });
  });

  test("a hole in a file that was rewritten is damage", async () => {
    const folder = await running(async (journal) => {
      for (const number of [1, 2, 3]) await attachIn(journal, aRecord(number));
    });
    await open.pop()?.close();
    await rm(indexPath(folder));
    await running((journal) => journal.begin(aRecord(4)), folder);
    const copy = await cut(folder, ...sectorIn(await placeOf(folder, '"container1"')));
    expect(await read(copy)).toEqual({ numbers: ["2", "3", "4"], quarantined: 1, stranger: "lost" });
  });

  test("zeros that are no sectors are damage", async () => {
    const folder = await running(async (journal) => {
      await attachIn(journal, aRecord(1));
      await Promise.all([2, 3, 4].map((number) => journal.begin(aRecord(number))));
    });
    const [from, to] = sectorIn(await placeOf(folder, '"container3"'));
    expect(await read(await cut(folder, from + 1, to))).toMatchObject({ numbers: ["1", "2", "4"], quarantined: 1 });
  });
});
