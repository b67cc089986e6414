import { expect, test } from "bun:test";
import { mkdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { quarantineFolder } from "../files/quarantine.ts";
import type { Journal } from "./journal.ts";
import { journalPath } from "./journal-open.ts";
import { aFolder, aRecord, containerId, openIn } from "./record.fixture.ts";

const hourMs = 3_600_000;
const stranger = containerId("stranger");

/** A state folder whose journal lost its first record, opened once so that the damage is in quarantine. */
async function damaged(clock: VirtualClock): Promise<{ folder: string; journal: Journal }> {
  const folder = await aFolder();
  const first = await openIn(folder, { clock });
  await first.begin(aRecord(1));
  await first.close();
  const file = await readFile(journalPath(folder));
  file[20] = (file[20] ?? 0) ^ 1;
  await writeFile(journalPath(folder), file);
  return { folder, journal: await openIn(folder, { clock }) };
}

test("Journal.losses: damage counts for a day, and its files stay", async () => {
  const clock = new VirtualClock();
  const { journal } = await damaged(clock);
  expect(journal.knows(stranger)).toBe("lost");
  const files = journal.quarantined().length;
  await clock.advance(24 * hourMs - 1);
  expect(journal.losses()).toHaveLength(files);
  await clock.advance(1);
  expect(journal.losses()).toEqual([]);
  expect(journal.knows(stranger)).toBe("never-added");
  expect(journal.stats().quarantined).toBe(0);
  expect(journal.quarantined()).toHaveLength(files);
  // A container of the index is lost as before.
  await journal.suspect([containerId("known")]);
  expect(journal.knows(containerId("known"))).toBe("lost");
  await journal.close();
});

test("Journal.losses: a restart does not forget damage, and does not make it younger", async () => {
  const clock = new VirtualClock();
  const { folder, journal } = await damaged(clock);
  await journal.close();
  await clock.advance(23 * hourMs);
  const again = await openIn(folder, { clock });
  expect(again.knows(stranger)).toBe("lost");
  await clock.advance(hourMs);
  expect(again.knows(stranger)).toBe("never-added");
  await again.close();
});

test("Journal.losses: after a reboot damage counts for an hour, in which the runtime deletes its old sandboxes", async () => {
  const clock = new VirtualClock();
  const { folder, journal } = await damaged(clock);
  await journal.close();
  const booted = await openIn(folder, { clock, bootId: "the-next-boot" });
  expect(booted.knows(stranger)).toBe("lost");
  await clock.advance(hourMs - 1);
  expect(booted.knows(stranger)).toBe("lost");
  await clock.advance(1);
  expect(booted.knows(stranger)).toBe("never-added");
  await booted.close();
});

test("Journal.losses: a file whose first line cannot be read is as old as the file", async () => {
  const clock = new VirtualClock();
  const { folder, journal } = await damaged(clock);
  const [entry] = journal.quarantined();
  await journal.close();
  await rm(quarantineFolder(folder), { recursive: true });
  const first = await openIn(folder, { clock });
  await first.close();
  await writeUnreadable(folder, entry?.name ?? "", clock.wallMs());
  const young = await openIn(folder, { clock });
  expect(young.knows(stranger)).toBe("lost");
  await young.close();
  await writeUnreadable(folder, entry?.name ?? "", clock.wallMs() - 25 * hourMs);
  const old = await openIn(folder, { clock });
  expect(old.knows(stranger)).toBe("never-added");
  await old.close();
});

async function writeUnreadable(folder: string, name: string, changedMs: number): Promise<void> {
  await mkdir(quarantineFolder(folder), { recursive: true });
  const path = join(quarantineFolder(folder), name);
  await writeFile(path, "no header");
  await utimes(path, changedMs / 1_000, changedMs / 1_000);
}
