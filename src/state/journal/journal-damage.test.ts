import { describe, expect, test } from "bun:test";
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { encodeLine } from "../files/checked-line.ts";
import type { Journal } from "./journal.ts";
import { indexPath, journalPath } from "./journal-open.ts";
import { unknownLeak } from "./leak-ledger.ts";
import { systemClock } from "../../base/clock.ts";
import { aChain, aFolder, aRecord, attachIn, containerId, json, openIn, tokenOf } from "./record.fixture.ts";

/** Three attachments, each one line in the log, small enough to break at every byte. */
async function threeRecords(): Promise<string> {
  const folder = await aFolder();
  const journal = await openIn(folder);
  for (const number of [1, 2, 3]) await journal.begin(aRecord(number, { chains: [] }));
  await journal.close();
  return folder;
}

/**
 * Puts the two files of the journal back as they are now, and empties quarantine.
 * Copying the folder for each place of damage would write the disk reserve every time.
 */
async function wayBack(folder: string): Promise<() => Promise<void>> {
  const files = await Promise.all(
    [journalPath(folder), indexPath(folder)].map(async (path) => ({ path, bytes: await readFile(path) })),
  );
  return async () => {
    for (const { path, bytes } of files) await writeFile(path, bytes);
    await rm(join(folder, "quarantine"), { recursive: true, force: true });
  };
}

function numbers(journal: Journal): readonly string[] {
  return journal.all().map((record) => record.containerId.slice("container".length));
}

async function lineEnds(folder: string): Promise<readonly number[]> {
  const file = await readFile(journalPath(folder));
  return [...file.entries()].filter(([, byte]) => byte === 0x0a).map(([offset]) => offset + 1);
}

describe("Journal with a damaged file", () => {
  test("a file cut at any byte of its last record loses that record only, without quarantine", async () => {
    const folder = await threeRecords();
    const ends = await lineEnds(folder);
    const [from, to] = [ends.at(-2) ?? 0, ends.at(-1) ?? 0];
    const putBack = await wayBack(folder);
    for (let length = from; length < to; length += 1) {
      await putBack();
      await truncate(journalPath(folder), length);
      const journal = await openIn(folder);
      expect(numbers(journal)).toEqual(["1", "2"]);
      expect(journal.quarantined()).toEqual([]);
      // The index, a file of its own, remembers that there was one.
      expect(journal.knows(containerId("container3"))).toBe("lost");
      expect(journal.knows(containerId("stranger"))).toBe("never-added");
      await journal.begin(aRecord(4, { chains: [] }));
      await journal.close();
      const again = await openIn(folder);
      expect(numbers(again)).toEqual(["1", "2", "4"]);
      await again.close();
    }
  });

  test("zeros behind the last record, as a power cut leaves them, are cut off", async () => {
    const folder = await threeRecords();
    const file = await readFile(journalPath(folder));
    await writeFile(journalPath(folder), Buffer.concat([file, Buffer.from("L1 0123"), Buffer.alloc(5_000)]));
    const journal = await openIn(folder);
    expect(numbers(journal)).toEqual(["1", "2", "3"]);
    expect(journal.quarantined()).toEqual([]);
    await journal.close();
    expect((await stat(journalPath(folder))).size).toBe(file.length);
  });

  test("a flipped bit in any byte of a record loses at most that record, and says so", async () => {
    const folder = await threeRecords();
    const ends = await lineEnds(folder);
    const original = await readFile(journalPath(folder));
    const [from, to] = [ends.at(1) ?? 0, ends.at(2) ?? 0];
    // Every byte of the header, every third of the rest, and the newline.
    const places = [...Array(to - from).keys()]
      .map((at) => from + at)
      .filter((at) => at < from + 14 || (to - 1 - at) % 3 === 0);
    const putBack = await wayBack(folder);
    for (const at of places) {
      await putBack();
      const file = Buffer.from(original);
      file[at] = (file[at] ?? 0) ^ (1 << (at % 8));
      await writeFile(journalPath(folder), file);
      const journal = await openIn(folder);
      const isNewline = at === to - 1;
      expect(numbers(journal)).toEqual(isNewline ? ["1", "2", "3"] : ["1", "3"]);
      expect(journal.knows(containerId("container2"))).toBe(isNewline ? "live" : "lost");
      expect(journal.knows(containerId("stranger"))).toBe(isNewline ? "never-added" : "lost");
      expect(journal.quarantined()).toHaveLength(isNewline ? 0 : 1);
      await journal.close();
    }
  });

  test("a damaged newline of the last record keeps that record and the next one", async () => {
    for (const byte of [0x0b, 0x4a, 0x00, 0x20]) {
      const folder = await threeRecords();
      const file = await readFile(journalPath(folder));
      file[file.length - 1] = byte;
      await writeFile(journalPath(folder), file);
      const journal = await openIn(folder);
      const kept = byte === 0 ? ["1", "2"] : ["1", "2", "3"];
      expect(numbers(journal)).toEqual(kept);
      await journal.begin(aRecord(4, { chains: [] }));
      await journal.close();
      const again = await openIn(folder);
      expect(numbers(again)).toEqual([...kept, "4"]);
      expect(again.quarantined()).toEqual([]);
      await again.close();
    }
  });
});

describe("Journal with a damaged file keeps what was damaged aside", () => {
  test("quarantine keeps the bytes and the reason, over restarts, once", async () => {
    const folder = await threeRecords();
    const ends = await lineEnds(folder);
    const file = await readFile(journalPath(folder));
    file.fill(0x78, ends[1], (ends[2] ?? 0) - 1);
    await writeFile(journalPath(folder), file);
    for (let start = 0; start < 3; start += 1) {
      const journal = await openIn(folder);
      expect(journal.quarantined()).toHaveLength(1);
      expect(journal.quarantined()[0]).toMatchObject({
        source: "journal",
        offset: ends[1],
        reason: "its checksum is wrong",
      });
      expect(journal.stats().quarantined).toBe(1);
      await journal.close();
    }
    const [name = ""] = await readdir(join(folder, "quarantine"));
    expect((await readFile(join(folder, "quarantine", name))).includes("x".repeat(100))).toBe(true);
    await rm(join(folder, "quarantine"), { recursive: true });
    const cleared = await openIn(folder);
    expect(cleared.knows(containerId("stranger"))).toBe("never-added");
    expect(numbers(cleared)).toEqual(["1", "3"]);
    await cleared.close();
  });

  test("a quarantine folder with foreign and unreadable files does not stop it", async () => {
    const folder = await threeRecords();
    await mkdir(join(folder, "quarantine"));
    await writeFile(join(folder, "quarantine", "journal-0-x.bad"), "no header");
    await writeFile(join(folder, "quarantine", "README"), "left by a person");
    const journal = await openIn(folder);
    expect(journal.quarantined()).toMatchObject([{ name: "journal-0-x.bad", reason: "its first line cannot be read" }]);
    await journal.close();
  });

  test("a missing genesis is noted, what follows it is used, leaks included", async () => {
    const folder = await threeRecords();
    const first = await openIn(folder);
    const facts = { pod: undefined, netns: { path: "", identity: undefined }, cniPath: "", bootId: "", reason: "r" };
    await first.leak(unknownLeak(aRecord(9), facts, systemClock));
    await first.close();
    const ends = await lineEnds(folder);
    const file = await readFile(journalPath(folder));
    await writeFile(journalPath(folder), file.subarray(ends[0]));
    const journal = await openIn(folder);
    expect(numbers(journal)).toEqual(["1", "2", "3"]);
    expect(journal.leaks()).toHaveLength(1);
    expect(journal.quarantined()).toMatchObject([{ reason: "its first record, the genesis, is missing" }]);
    expect(journal.knows(containerId("stranger"))).toBe("lost");
    await journal.close();
    const again = await openIn(folder);
    expect(again.stats().genesis).toBeDefined();
    expect(again.knows(containerId("stranger"))).toBe("lost");
    await again.close();
  });

  test("an emptied or removed journal is not taken for a new node", async () => {
    const emptied = await threeRecords();
    await truncate(journalPath(emptied), 0);
    const removed = await threeRecords();
    await rm(journalPath(removed));
    for (const folder of [emptied, removed]) {
      const journal = await openIn(folder);
      expect(numbers(journal)).toEqual([]);
      expect(journal.quarantined()).toHaveLength(1);
      expect(journal.knows(containerId("container1"))).toBe("lost");
      await journal.forget(containerId("container1"));
      expect(journal.knows(containerId("container1"))).toBe("settled");
      await journal.close();
    }
  });

  test("a missing index is made again, a damaged one is put aside", async () => {
    const missing = await threeRecords();
    await rm(indexPath(missing));
    const journal = await openIn(missing);
    expect(journal.knows(containerId("stranger"))).toBe("never-added");
    await journal.close();
    expect((await readFile(indexPath(missing), "utf8")).match(/\+"container/g)).toHaveLength(3);

    const damaged = await threeRecords();
    const file = await readFile(indexPath(damaged));
    file[20] = 0x7e;
    await writeFile(indexPath(damaged), file);
    const again = await openIn(damaged);
    expect(again.quarantined()).toMatchObject([{ source: "index" }]);
    expect(numbers(again)).toEqual(["1", "2", "3"]);
    await again.close();
  });
});

describe("Journal with records that it cannot use", () => {
  test("a record of a newer format stops the start and is left as it is", async () => {
    const newerLine = '{"kind":"begin"}';
    const sum = crc32(newerLine, crc32("L2 ")).toString(16).padStart(8, "0");
    for (const [line, seen] of [
      [`L2 ${sum} ${newerLine}\n`, "format version 2, this build reads version 1"],
      [encodeLine("L", '{"kind":"teleported","token":"1"}'), "the unknown kind teleported"],
    ] as const) {
      const folder = await threeRecords();
      const before = Buffer.concat([await readFile(journalPath(folder)), Buffer.from(line)]);
      await writeFile(journalPath(folder), before);
      const opened = openIn(folder);
      expect(opened).rejects.toMatchObject({ code: "state-newer" });
      expect(opened).rejects.toThrow(seen);
      expect(opened).rejects.toThrow(journalPath(folder));
      await opened.catch(() => undefined);
      expect(await readFile(journalPath(folder))).toEqual(before);
    }
  });

  test("lines with a right checksum and hostile JSON are put aside, neighbours together", async () => {
    const folder = await threeRecords();
    const hostile = [
      "null",
      "[]",
      '"text"',
      "{",
      '{"kind":5}',
      '{"kind":"begin"}',
      '{"kind":"begin","record":{"token":1}}',
      '{"kind":"begin","record":{"__proto__":{}}}',
      '{"kind":"step","token":"x","step":{"step":-1}}',
      '{"kind":"commit","token":"x","results":{}}',
      `{"kind":"leak","leak":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
      '{"kind":"removed","token":"x"}',
    ];
    const lines = hostile.map((body) => encodeLine("L", body)).join("");
    await writeFile(journalPath(folder), Buffer.concat([await readFile(journalPath(folder)), Buffer.from(lines)]));
    const journal = await openIn(folder);
    expect(numbers(journal)).toEqual(["1", "2", "3"]);
    expect(journal.quarantined()).toHaveLength(1);
    await journal.begin(aRecord(4));
    await journal.close();
  });

  test("kinds named like members of every object are unknown kinds", async () => {
    const folder = await threeRecords();
    const line = encodeLine("L", '{"kind":"constructor"}');
    await writeFile(journalPath(folder), Buffer.concat([await readFile(journalPath(folder)), Buffer.from(line)]));
    expect(openIn(folder)).rejects.toMatchObject({ code: "state-newer" });
  });

  test("an attachment whose commit was damaged but that was acknowledged stays attached", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1, { chains: [aChain(), aChain()] }));
    await journal.close();
    const lines = (await readFile(journalPath(folder), "utf8")).split("\n");
    const broken = lines.map((line) => (line.includes('"commit"') ? line.replace("commit", "c0mmit") : line));
    await writeFile(journalPath(folder), broken.join("\n"));
    const again = await openIn(folder);
    expect(again.findByToken(tokenOf(1))).toMatchObject({ phase: "acknowledged", results: [undefined, undefined] });
    await again.close();
  });

  test("entries about a record whose intent was damaged are counted, and end with its removal", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await attachIn(journal, aRecord(2));
    await journal.close();
    const lines = (await readFile(journalPath(folder), "utf8")).split("\n");
    await writeFile(
      journalPath(folder),
      lines.map((line) => (line.includes('container1"') ? line.replace("container1", "c0ntainer1") : line)).join("\n"),
    );
    const again = await openIn(folder);
    expect(again.stats().orphans).toBe(3);
    expect(numbers(again)).toEqual(["2"]);
    expect(again.findByToken(tokenOf(2))?.results).toEqual([json('{"cniVersion":"1.0.0","ips":[]}')]);
    await again.close();
  });
});
