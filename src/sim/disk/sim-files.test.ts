import { describe, expect, test } from "bun:test";
import { errnoOf } from "../../base/errors.ts";
import { Seeded } from "../time/seeded.ts";
import { SimTime } from "../time/sim-time.ts";
import { SimFiles } from "./sim-files.ts";

function filesOf(seed: number): SimFiles {
  const files = new SimFiles(new SimTime(), new Seeded(seed));
  files.makeFolder("/n");
  return files;
}

const seeds = Array.from({ length: 40 }, (_, seed) => seed);

describe("SimFiles", () => {
  test("a power cut keeps what was synced, and some of the rest", () => {
    const lengths = new Set<number>();
    for (const seed of seeds) {
      const files = filesOf(seed);
      const inode = files.create("/n/log");
      files.write(inode, Buffer.alloc(600, "a"), 0);
      inode.beginSync()(true);
      files.syncFolder("/n");
      files.write(inode, Buffer.alloc(4_000, "b"), 600);
      files.cutPower();
      const { content } = files.get("/n/log");
      expect(content.subarray(0, 600).toString()).toBe("a".repeat(600));
      lengths.add(content.length);
    }
    expect(lengths.size).toBeGreaterThan(3);
  });

  test("a sync covers what was written before it, not what comes while it runs", () => {
    const files = filesOf(1);
    const inode = files.create("/n/log");
    files.write(inode, Buffer.from("one"), 0);
    const end = inode.beginSync();
    files.write(inode, Buffer.from("two"), 3);
    end(true);
    expect(inode.durable.toString()).toBe("one");
  });

  test("a name is durable only after a sync of its folder", () => {
    const survivors = new Set<boolean>();
    for (const seed of seeds) {
      const files = filesOf(seed);
      files.create("/n/old");
      files.syncFolder("/n");
      files.rename("/n/old", "/n/new");
      expect(files.durableAt("/n/new")).toBeUndefined();
      files.cutPower();
      survivors.add(files.find("/n/new") !== undefined);
    }
    expect(survivors).toEqual(new Set([true, false]));
  });

  test("a full disk takes the rest of a block, then nothing, until something is removed", () => {
    const files = filesOf(1);
    const inode = files.create("/n/log");
    files.write(inode, Buffer.alloc(4_000), 0);
    files.write(files.create("/n/reserve"), Buffer.alloc(4_096), 0);
    files.trouble.leftBytes = 0;
    expect(files.write(inode, Buffer.alloc(200), 4_000)).toBe(96);
    const write = (): unknown => files.write(inode, Buffer.alloc(104), 4_096);
    expect(errnoOfThrown(write)).toBe("ENOSPC");
    files.unlink("/n/reserve");
    expect(write()).toBe(104);
  });
});

function errnoOfThrown(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (thrown) {
    return errnoOf(thrown);
  }
}
