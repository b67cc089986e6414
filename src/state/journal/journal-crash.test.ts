import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { join } from "node:path";
import type { Journal } from "./journal.ts";
import { aFolder, aRecord, attachIn, openIn, tokenOf } from "./record.fixture.ts";

type Promised = Map<number, string>;

/** Lets the child work for a while, kills it, and returns the last thing it was promised about each attachment. */
async function killedAfter(workMs: number, folder: string, from: number): Promise<Promised> {
  const program = join(import.meta.dirname, "journal-crash.fixture.ts");
  const child = spawn(process.execPath, [program, folder, String(from)], { stdio: ["ignore", "pipe", "inherit"] });
  const promised: Promised = new Map();
  const lines = createInterface({ input: child.stdout });
  lines.on("line", (line) => {
    const [word = "", number = ""] = line.split(" ");
    if (word === "ready") setTimeout(() => child.kill("SIGKILL"), workMs);
    else promised.set(Number(number), word);
  });
  await once(lines, "close");
  return promised;
}

function expectKept(journal: Journal, promised: Promised): void {
  for (const [number, word] of promised) {
    const record = journal.findByToken(tokenOf(number));
    if (word === "begun") expect(["intent", "committed"]).toContain(record?.phase ?? "missing");
    if (word === "committed") expect(record).toMatchObject({ phase: "committed", containerId: `container${number}` });
    if (word === "removed") expect(record).toBeUndefined();
  }
}

describe("Journal of a killed process", () => {
  test("has every intent and commit it promised, also when killed while it compacts", async () => {
    const folder = await aFolder();
    const everything: Promised = new Map();
    let from = 1;
    for (const workMs of [0, 3, 40, 90, 170, 260, 333, 401]) {
      for (const [number, word] of await killedAfter(workMs, folder, from)) everything.set(number, word);
      from += 1_000_000;
      const journal = await openIn(folder);
      expect(journal.quarantined()).toEqual([]);
      expectKept(journal, everything);
      await journal.close();
    }
    expect(everything.size).toBeGreaterThan(500);
  }, 60_000);

  test("survives what a crash in the middle of a rewrite leaves behind", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await journal.close();
    for (const name of ["journal.log.tmp", "containers.idx.tmp", "reserve.tmp", "probe"])
      await writeFile(join(folder, name), "L1 0000 half");
    const again = await openIn(folder);
    expect(again.all()).toHaveLength(1);
    expect(again.quarantined()).toEqual([]);
    await again.close();
  });

  test("a removal whose index line was lost is still known as a removal", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await attachIn(journal, aRecord(1));
    await journal.close();
    const index = join(folder, "containers.idx");
    const before = await Bun.file(index).bytes();
    const second = await openIn(folder);
    await second.removed(tokenOf(1));
    await second.close();
    await writeFile(index, before);
    const third = await openIn(folder);
    expect(third.knows(aRecord(1).containerId)).toBe("settled");
    await third.close();
  });
});
