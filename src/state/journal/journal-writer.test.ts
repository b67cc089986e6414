import { describe, expect, test } from "bun:test";
import { cp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import type { Journal } from "./journal.ts";
import { journalPath } from "./journal-open.ts";
import { leakOf } from "./leak-ledger.ts";
import { reserveBytes } from "../files/reserve.ts";
import { openSystemLog, type LogHandle, type OpenLog } from "../files/log-file.ts";
import { aFolder, aRecord, attachIn, json, openIn, tokenOf } from "./record.fixture.ts";

type Fault = (operation: "write" | "datasync" | "truncate", path: string, bytes: Uint8Array) => Promise<void> | void;

/** The real files, with every operation on the journal counted and, if `fault` throws, failing. */
function watched(fault: Fault = () => undefined): {
  readonly openLog: OpenLog;
  readonly counts: Record<"write" | "datasync" | "truncate", number>;
} {
  const counts = { write: 0, datasync: 0, truncate: 0 };
  const openLog: OpenLog = async (path) => {
    const real = await openSystemLog(path);
    const before = async (operation: keyof typeof counts, bytes: Uint8Array = new Uint8Array()): Promise<void> => {
      if (path.endsWith("journal.log")) counts[operation] += 1;
      await fault(operation, path, bytes);
    };
    const handle: LogHandle = {
      ...real,
      async write(bytes, position) {
        try {
          await before("write", bytes);
        } catch (cause) {
          // As a disk that fills up does: a part is written before the error.
          await real.write(bytes.subarray(0, bytes.length / 2), position);
          throw cause;
        }
        await real.write(bytes, position);
      },
      async datasync() {
        await before("datasync");
        await real.datasync();
      },
      async truncate(length) {
        await before("truncate");
        await real.truncate(length);
      },
    };
    return handle;
  };
  return { openLog, counts };
}

function errno(code: string): Error {
  return Object.assign(new Error(`${code}: made by the test`), { code });
}

/** Fails the journal's operation as long as `on` is set. */
function breaker(operation: string, code: string): { on: boolean; fault: Fault } {
  const state = {
    on: false,
    fault: (seen: string, path: string): void => {
      if (state.on && seen === operation && path.endsWith("journal.log")) throw errno(code);
    },
  };
  return state;
}

async function reopened(folder: string): Promise<readonly string[]> {
  const journal = await openIn(folder);
  const tokens = journal.all().map((record) => record.token);
  expect(journal.quarantined()).toEqual([]);
  await journal.close();
  return tokens;
}

/** The folder as a kill would leave it. */
async function copied(folder: string): Promise<string> {
  const copy = await aFolder();
  await cp(folder, copy, { recursive: true });
  return copy;
}

/** Up to the zeros that further lines are written over. */
async function bytesOfLines(folder: string): Promise<number> {
  const file = await readFile(journalPath(folder));
  const zeros = file.indexOf(0);
  return zeros < 0 ? file.length : zeros;
}

describe("JournalWriter", () => {
  test("writes over room that was made before, so that a sync changes no sizes, and leaves none behind", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await journal.begin(aRecord(1));
    const { size, blocks } = await stat(journalPath(folder));
    for (let number = 2; number < 20; number += 1) await attachIn(journal, aRecord(number));
    expect(await stat(journalPath(folder))).toMatchObject({ size, blocks });
    const lines = await bytesOfLines(folder);
    await journal.close();
    expect((await stat(journalPath(folder))).size).toBe(lines);
  });

  test.each(["ENOSPC", "EDQUOT"])(
    "after %s at a sync makes no room for a while, in the rewritten file neither",
    async (code) => {
      const folder = await aFolder();
      const path = journalPath(folder);
      const broken = breaker("datasync", code);
      const journal = await openIn(folder, { openLog: watched(broken.fault).openLog });
      await journal.begin(aRecord(1));
      broken.on = true;
      expect(await journal.begin(aRecord(2)).catch((error: unknown) => error)).toMatchObject({
        code: "state-unwritable",
      });
      broken.on = false;
      for (let number = 2; number < 1_003; number += 1) {
        await journal.begin(aRecord(number, { chains: [] }));
        if (number < 1_002 && number % 100 === 0) expect((await readFile(path)).at(-1)).toBe(0x0a);
      }
      expect((await readFile(path)).at(-1)).toBe(0);
      await journal.close();
      expect(await reopened(folder)).toHaveLength(1_002);
    },
  );

  test("room that a killed daemon left is no damage and nothing torn", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    const killed = await readFile(journalPath(folder));
    await journal.close();
    expect(killed.at(-1)).toBe(0);
    await writeFile(journalPath(folder), killed);
    const again = await openIn(folder);
    await attachIn(again, aRecord(2));
    await again.close();
    expect(await reopened(folder)).toEqual([tokenOf(1), tokenOf(2)]);
  });
});

describe("JournalWriter shares writes and syncs", () => {
  test("many concurrent intents share few writes and few syncs", async () => {
    const { openLog, counts } = watched();
    const journal = await openIn(await aFolder(), { openLog });
    await Promise.all(Array.from({ length: 200 }, (_, number) => journal.begin(aRecord(number))));
    expect(counts.write).toBeLessThanOrEqual(3);
    expect(counts.datasync).toBeLessThanOrEqual(3);
    await journal.close();
  });

  test("what arrives during a write goes out with the next one", async () => {
    const journalOf: { current?: Journal } = {};
    const late: Promise<void>[] = [];
    const { openLog, counts } = watched((operation) => {
      if (operation !== "datasync" || late.length > 0) return;
      for (let number = 100; number < 150; number += 1) late.push(journalOf.current!.begin(aRecord(number)));
    });
    const journal = await openIn(await aFolder(), { openLog });
    journalOf.current = journal;
    await journal.begin(aRecord(1));
    await Promise.all(late);
    expect(counts).toEqual({ write: 2, datasync: 2, truncate: 0 });
    await journal.close();
  });

  test("only the intent costs a sync: steps, commits, acknowledgements and removals do not", async () => {
    const { openLog, counts } = watched();
    const journal = await openIn(await aFolder(), { openLog });
    await attachIn(journal, aRecord(1));
    expect(counts).toMatchObject({ write: 4, datasync: 1 });
    await journal.delFailed(tokenOf(1), "busy");
    await journal.removed(tokenOf(1));
    expect(counts).toMatchObject({ write: 6, datasync: 1 });
    await journal.close();
  });

  test("a large batch is split, so that no call waits behind many megabytes", async () => {
    const { openLog, counts } = watched();
    const folder = await aFolder();
    const journal = await openIn(folder, { openLog });
    const big = json(`{"x":"${"y".repeat(300_000)}"}`);
    await Promise.all(Array.from({ length: 8 }, (_, number) => journal.begin(aRecord(number, { results: [big] }))));
    expect(counts.write).toBe(3);
    await journal.close();
    expect(await reopened(folder)).toHaveLength(8);
  });
});

describe("JournalWriter when the disk refuses", () => {
  test("a failed write rejects what begins something, ends in memory what ends, and leaves the file whole", async () => {
    const broken = breaker("write", "EIO");
    const { openLog, counts } = watched(broken.fault);
    const folder = await aFolder();
    const journal = await openIn(folder, { openLog });
    await journal.begin(aRecord(1));
    await journal.begin(aRecord(9));
    const size = await bytesOfLines(folder);
    broken.on = true;
    const outcomes = await Promise.allSettled([
      journal.begin(aRecord(2)),
      journal.commit(tokenOf(1), []),
      journal.removed(tokenOf(1)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(outcomes[0]).toMatchObject({ reason: { code: "state-unwritable" } });
    expect(String((outcomes[0] as PromiseRejectedResult).reason)).toContain(`Cannot write ${journalPath(folder)}: EIO`);
    expect(journal.all()).toMatchObject([{ token: tokenOf(9), phase: "intent" }]);
    expect(journal.knows(aRecord(1).containerId)).toBe("settled");
    expect(journal.knows(aRecord(2).containerId)).toBe("never-added");
    expect(journal.stats()).toMatchObject({
      unwritten: 1,
      refusals: { count: 1, reason: expect.stringContaining("EIO") },
    });
    expect(counts.truncate).toBe(1);
    expect(await bytesOfLines(folder)).toBe(size);
    broken.on = false;
    await journal.begin(aRecord(2));
    expect(journal.stats().unwritten).toBe(0);
    const killed = await copied(folder);
    await journal.close();
    expect(await reopened(folder)).toEqual([tokenOf(9), tokenOf(2)]);
    expect(await reopened(killed)).toEqual([tokenOf(9), tokenOf(2)]);
  });

  test.each(["the probe", "the end of the daemon"])(
    "%s writes down what ended on a disk that was read-only",
    async (by) => {
      const broken = breaker("write", "EROFS");
      const folder = await aFolder();
      const journal = await openIn(folder, { openLog: watched(broken.fault).openLog });
      await attachIn(journal, aRecord(1));
      await attachIn(journal, aRecord(2));
      broken.on = true;
      await journal.delFailed(tokenOf(1), "busy");
      expect(journal.findByToken(tokenOf(1))?.delAttempts).toBe(1);
      await journal.leak(leakOf(aRecord(1), [0], "busy", systemClock));
      await journal.removed(tokenOf(1));
      expect(await journal.probeWritable().catch((error: unknown) => error)).toMatchObject({
        code: "state-unwritable",
      });
      expect(journal.leaks()).toHaveLength(1);
      expect(journal.stats().unwritten).toBe(3);
      // A daemon that is killed now finds the record again, without the leak, and ends both again.
      expect(await reopened(await copied(folder))).toEqual([tokenOf(1), tokenOf(2)]);
      broken.on = false;
      if (by === "the probe") await journal.probeWritable();
      const killed = by === "the probe" ? await copied(folder) : folder;
      await journal.close();
      const again = await openIn(killed);
      expect([again.all().map(({ token }) => token), again.leaks().length]).toEqual([[tokenOf(2)], 1]);
      await again.close();
    },
  );

  test("thousands of endings on a disk that refuses them are not kept as lines: the journal is written anew", async () => {
    const broken = breaker("write", "EROFS");
    const folder = await aFolder();
    const journal = await openIn(folder, { openLog: watched(broken.fault).openLog });
    for (const number of [1, 2]) await attachIn(journal, aRecord(number));
    const inode = (await stat(journalPath(folder))).ino;
    broken.on = true;
    for (let round = 0; round < 400; round += 1) await journal.delFailed(tokenOf(1), "x".repeat(1_000));
    // The test breaks only writes to the open file.
    expect((await stat(journalPath(folder))).ino).not.toBe(inode);
    broken.on = false;
    await journal.removed(tokenOf(2));
    expect(journal.stats().unwritten).toBe(0);
    await journal.close();
    const again = await openIn(folder);
    expect(again.all()).toMatchObject([{ token: tokenOf(1), delAttempts: 400 }]);
    await again.close();
  });
});

describe("JournalWriter when a write or a sync fails half-way", () => {
  test("after a failed sync the whole log is written anew, because a second sync would prove nothing", async () => {
    const broken = breaker("datasync", "EIO");
    const { openLog } = watched(broken.fault);
    const folder = await aFolder();
    const journal = await openIn(folder, { openLog });
    await attachIn(journal, aRecord(1));
    const inode = (await stat(journalPath(folder))).ino;
    broken.on = true;
    expect(await journal.begin(aRecord(2)).catch((error: unknown) => error)).toMatchObject({
      code: "state-unwritable",
    });
    broken.on = false;
    await journal.begin(aRecord(3));
    expect((await stat(journalPath(folder))).ino).not.toBe(inode);
    await journal.close();
    expect(await reopened(folder)).toEqual([tokenOf(1), tokenOf(3)]);
  });

  test("a torn write that cannot be cut off is replaced before the next one", async () => {
    let isBroken = false;
    const { openLog } = watched((operation, path) => {
      if (isBroken && operation !== "datasync" && path.endsWith("journal.log")) throw errno("EIO");
    });
    const folder = await aFolder();
    const journal = await openIn(folder, { openLog });
    await journal.begin(aRecord(1));
    isBroken = true;
    expect(await journal.begin(aRecord(2)).catch((error: unknown) => error)).toMatchObject({
      code: "state-unwritable",
    });
    isBroken = false;
    await journal.begin(aRecord(3));
    await journal.close();
    expect(await reopened(folder)).toEqual([tokenOf(1), tokenOf(3)]);
  });

  test("on a full disk intents and commits are refused, endings use the reserve", async () => {
    const folder = await aFolder();
    const state = { roomLeft: Infinity };
    const { openLog } = watched(async (operation, path, bytes) => {
      if (operation !== "write" || !path.endsWith("journal.log") || bytes.length < state.roomLeft) return;
      // The reserve, once released, is the only room there is.
      if (
        await stat(`${folder}/reserve`).then(
          () => true,
          () => false,
        )
      )
        throw errno("ENOSPC");
    });
    const journal = await openIn(folder, { openLog });
    await journal.begin(aRecord(1));
    await attachIn(journal, aRecord(2));
    state.roomLeft = 0;
    const outcomes = await Promise.allSettled([
      journal.begin(aRecord(3)),
      journal.commit(tokenOf(1), []),
      journal.removed(tokenOf(2)),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect(journal.stats().reserveHeld).toBe(false);
    expect(journal.all().map(({ token }) => token)).toEqual([tokenOf(1)]);
    state.roomLeft = Infinity;
    await journal.begin(aRecord(3));
    expect(journal.stats().reserveHeld).toBe(true);
    await journal.close();
    expect(await reopened(folder)).toEqual([tokenOf(1), tokenOf(3)]);
  });
});

describe("JournalWriter and its file", () => {
  test("a journal that was removed or replaced while it ran is noticed by the probe and written anew", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await rm(journalPath(folder));
    await journal.probeWritable();
    await journal.begin(aRecord(2));
    await rename(journalPath(folder), `${journalPath(folder)}.moved`);
    await journal.probeWritable();
    await journal.close();
    expect(await reopened(folder)).toEqual([tokenOf(1), tokenOf(2)]);
  });

  test.each<readonly [string, (folder: string) => Promise<void>]>([
    ["removed with its folder", (folder) => rm(folder, { recursive: true })],
    ["removed", (folder) => rm(journalPath(folder))],
    ["moved away with its folder", (folder) => rename(folder, `${folder}.moved`)],
    ["replaced", (folder) => writeFile(`${folder}/new`, "").then(() => rename(`${folder}/new`, journalPath(folder)))],
  ])("a journal that was %s is back on disk before the next ADD is acknowledged", async (_, happens) => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await happens(folder);
    expect(() => journal.glance()).toThrow(folder);
    await journal.begin(aRecord(2));
    const killed = await copied(folder);
    expect(() => journal.glance()).not.toThrow();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await journal.probeWritable();
    expect((await stat(join(folder, "reserve"))).size).toBe(reserveBytes);
    await journal.close();
    expect(await reopened(killed)).toEqual([tokenOf(1), tokenOf(2)]);
    expect(await reopened(folder)).toEqual([tokenOf(1), tokenOf(2)]);
  });

  test("a journal whose folder cannot be made again refuses the next ADD and ends in memory what ends", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await rm(folder, { recursive: true });
    await writeFile(folder, "");
    expect(await journal.begin(aRecord(2)).catch((error: unknown) => error)).toMatchObject({
      code: "state-unwritable",
    });
    await journal.removed(tokenOf(1));
    expect(journal.all()).toEqual([]);
    await rm(folder);
    await journal.probeWritable();
    await journal.close();
    expect(await reopened(folder)).toEqual([]);
  });

  test("a defect in the hook does not leave the caller waiting", async () => {
    const journal = await openIn(await aFolder(), {
      onWritten: () => {
        throw new Error("hook");
      },
    });
    expect(await journal.begin(aRecord(1)).catch((error: unknown) => error)).toMatchObject({
      code: "state-unwritable",
    });
    await journal.close();
  });

  test("compaction keeps live entries and drops dead ones", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    for (let number = 0; number < 40; number += 1) await attachIn(journal, aRecord(number));
    const before = journal.all();
    for (let round = 0; round < 20; round += 1) {
      const churn = Array.from({ length: 100 }, (_, number) => 1_000 + number);
      await Promise.all(churn.map((number) => attachIn(journal, aRecord(number))));
      await Promise.all(churn.map((number) => journal.removed(tokenOf(number))));
    }
    expect(journal.stats().compactions).toBeGreaterThan(1);
    expect(journal.stats().logBytes).toBeLessThan(1_600_000);
    expect(journal.all()).toEqual(before);
    await journal.close();
    const again = await openIn(folder);
    expect(again.all()).toEqual(before);
    expect(again.stats().liveBytes).toBeLessThanOrEqual(again.stats().logBytes);
    expect(again.knows(aRecord(1_050).containerId)).toBe("settled");
    await again.close();
    expect((await readFile(`${folder}/containers.idx`)).length).toBeLessThan(60_000);
  });
});
