import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { open, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Journal } from "./journal.ts";
import { unknownLeak } from "./leak-ledger.ts";
import { systemClock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import { aFolder, aRecord, attachIn, json, openIn, tokenOf } from "./record.fixture.ts";

let disk = "";

beforeAll(async () => {
  disk = await aFolder();
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=0700", "levee-test", disk]);
});

afterAll(() => {
  // Lazily: a failed test leaves files open.
  execFileSync("umount", ["-l", disk]);
});

/** Writes until nothing more fits. */
async function fill(name: string): Promise<string> {
  const path = join(disk, name);
  const file = await open(path, "w");
  const chunk = Buffer.alloc(4_096, 1);
  try {
    for (;;) await file.write(chunk);
  } catch (cause) {
    expect(errnoOf(cause)).toBe("ENOSPC");
  } finally {
    await file.close();
  }
  expect((await statfs(disk)).bavail).toBe(0);
  return path;
}

async function refused(doing: Promise<void>): Promise<void> {
  expect(await doing.catch((error: unknown) => error)).toMatchObject({ code: "state-unwritable" });
}

/** Fills the last page of the log, so that the next line needs a block. */
async function untilRefused(journal: Journal, from: number): Promise<number> {
  for (let number = from; ; number += 1) {
    const error = await journal.begin(aRecord(number)).catch((thrown: unknown) => thrown);
    if (error !== undefined) return number;
  }
}

describe("Journal on a full disk", () => {
  test("refuses ADD before anything is done, still records DEL and leaks, and recovers when there is room", async () => {
    const folder = join(disk, "state");
    const journal = await openIn(folder);
    for (let number = 0; number < 20; number += 1) await attachIn(journal, aRecord(number));
    const ballast = await fill("ballast");
    const next = await untilRefused(journal, 100);
    expect(journal.findByToken(tokenOf(next))).toBeUndefined();
    await refused(journal.probeWritable());

    // Deletes go on, a commit does not.
    for (let attempt = 0; journal.stats().reserveHeld; attempt += 1)
      await journal.delFailed(tokenOf(1), `busy ${attempt}`);
    // The blocks of the reserve are free now, but not for new attachments.
    await refused(journal.begin(aRecord(6_000)));
    await refused(journal.commit(tokenOf(100), [json(`{"x":"${"y".repeat(200_000)}"}`)]));
    for (let number = 0; number < 20; number += 1) await journal.removed(tokenOf(number));
    const facts = { pod: undefined, netns: { path: "", identity: undefined }, cniPath: "", bootId: "", reason: "full" };
    await journal.leak(unknownLeak(aRecord(5_000), facts, systemClock));
    expect(journal.leaks()).toHaveLength(1);

    await rm(ballast);
    await journal.probeWritable();
    await journal.begin(aRecord(6_000));
    expect(journal.stats().reserveHeld).toBe(true);
    expect((await stat(join(folder, "reserve"))).size).toBe(65_536);
    const kept = journal.all().map(({ token }) => token);
    await journal.close();

    const again = await openIn(folder);
    expect(again.all().map(({ token }) => token)).toEqual(kept);
    expect(again.leaks()).toHaveLength(1);
    expect(again.quarantined()).toEqual([]);
    await again.close();
    await rm(folder, { recursive: true });
  });

  test("every delete of a node is recorded while the disk stays full", async () => {
    const folder = join(disk, "deletes");
    const journal = await openIn(folder);
    await Promise.all(Array.from({ length: 60 }, (_, number) => attachIn(journal, aRecord(number, { chains: [] }))));
    const ballast = await fill("ballast");
    await Promise.all(Array.from({ length: 30 }, (_, number) => journal.removed(tokenOf(number))));
    for (let number = 30; number < 60; number += 1) {
      await journal.delFailed(tokenOf(number), "b".repeat(200));
      await journal.removed(tokenOf(number));
    }
    expect(journal.all()).toEqual([]);
    await journal.close();
    // A daemon that starts on the full disk sees the same.
    const again = await openIn(folder);
    expect(again.all()).toEqual([]);
    expect(again.knows(aRecord(7).containerId)).toBe("never-added");
    await again.close();
    await rm(ballast);
    await rm(folder, { recursive: true });
  });

  test("a first start without room for the genesis says so", async () => {
    const ballast = await fill("ballast");
    await rm(join(disk, "none"), { recursive: true, force: true });
    const error = await openIn(join(disk, "none")).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "state-unwritable" });
    expect(String(error)).toContain("ENOSPC");
    await rm(ballast);
  });

  test("damage found on a full disk is neither fatal nor thrown away", async () => {
    const folder = join(disk, "damaged");
    const journal = await openIn(folder);
    for (const number of [1, 2, 3]) await attachIn(journal, aRecord(number));
    await journal.close();
    const path = join(folder, "journal.log");
    const file = await open(path, "r+");
    await file.write(Buffer.from("\u0007"), 0, 1, (await stat(path)).size - 30);
    await file.close();
    const ballast = await fill("ballast");
    const again = await openIn(folder);
    expect(again.quarantined()).toHaveLength(1);
    expect(again.all()).toHaveLength(3);
    await again.removed(tokenOf(1));
    await again.close();
    await rm(ballast);
    const third = await openIn(folder);
    expect(third.quarantined()).toMatchObject([{ source: "journal" }]);
    expect(third.quarantined()[0]?.name).not.toBe("");
    expect(third.all().map(({ token }) => token)).toEqual([tokenOf(2), tokenOf(3)]);
    await third.close();
  });
});
