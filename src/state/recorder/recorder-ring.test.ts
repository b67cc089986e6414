import { afterEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEntry, everyPod, type RecorderEntry } from "./recorder-entry.ts";
import { readStory } from "./recorder-read.ts";
import { RecorderRing } from "./recorder-ring.ts";
import { listSegments } from "./recorder-segments.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function aFolder(): string {
  const folder = join(mkdtempSync(join(tmpdir(), "levee-recorder-")), "recorder");
  folders.push(join(folder, ".."));
  return folder;
}

function entry(what: string, change: Partial<RecorderEntry> = {}): RecorderEntry {
  return { wallMs: 1, pod: "shop/web", containerId: "c1", verb: "ADD", what, facts: {}, ...change };
}

function ringIn(folder: string, bytesMax = 262_144): RecorderRing {
  return new RecorderRing(folder, bytesMax);
}

async function whats(folder: string, namespace = "shop", name = "web"): Promise<readonly string[]> {
  return (await readStory(folder, namespace, name)).entries.map(({ what }) => what);
}

describe("RecorderRing", () => {
  test("appended lines can be read back, by other readers and by the next ring", async () => {
    const folder = aFolder();
    ringIn(folder).append(encodeEntry(entry("asked")) + encodeEntry(entry("ran", { facts: { tookMs: 2.5 } })));
    // Not closed: its process was killed.
    const next = ringIn(folder);
    expect(next.last()).toEqual(entry("ran", { facts: { tookMs: 2.5 } }));
    next.append(encodeEntry(entry("failed")));
    expect(await whats(folder)).toEqual(["asked", "ran", "failed"]);
  });

  test("it stays below its size, and the newest is always there", async () => {
    const folder = aFolder();
    const ring = ringIn(folder);
    for (let count = 0; count < 5_000; count += 1) ring.append(encodeEntry(entry(`step ${count}`)));
    const sizes = listSegments(folder).map(({ path }) => statSync(path).size);
    expect(sizes.length).toBe(4);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
    const kept = await whats(folder);
    expect(kept.at(-1)).toBe("step 4999");
    expect(kept.length).toBe(1_000);
  });

  test("a line that was cut off is passed over, and the next one begins on its own", async () => {
    const folder = aFolder();
    ringIn(folder).append(encodeEntry(entry("asked")) + encodeEntry(entry("cut")));
    const [segment] = listSegments(folder);
    truncateSync(segment!.path, statSync(segment!.path).size - 9);
    const next = ringIn(folder);
    expect(next.last()?.what).toBe("asked");
    next.append(encodeEntry(entry("failed")));
    expect(await whats(folder)).toEqual(["asked", "failed"]);
  });

  test("damage in the middle, and zeros where a power cut left a hole, cost no more than their lines", async () => {
    const folder = aFolder();
    ringIn(folder).append(["one", "two", "three"].map((what) => encodeEntry(entry(what))).join(""));
    const path = listSegments(folder)[0]!.path;
    const bytes = readFileSync(path);
    bytes[bytes.indexOf("two")] = 0x58;
    writeFileSync(path, bytes);
    appendFileSync(path, Buffer.alloc(200_000));
    ringIn(folder, 1_048_576).append(encodeEntry(entry("four")));
    expect(await whats(folder)).toEqual(["one", "three", "four"]);
  });

  test("a file of another version is set aside, a few of them are kept, and a new one begun", async () => {
    const folder = aFolder();
    for (let round = 1; round <= 6; round += 1) {
      ringIn(folder).append(encodeEntry(entry("asked")));
      const [segment] = listSegments(folder);
      writeFileSync(segment!.path, `F2 00000000 []\n`);
      // So that each has a name of its own.
      writeFileSync(join(folder, `flight.${String(round + 10).padStart(8, "0")}.log`), `F2 00000000 []\n`);
    }
    const ring = ringIn(folder);
    ring.append(encodeEntry(entry("failed")));
    expect(await whats(folder)).toEqual(["failed"]);
    expect(readdirSync(folder).filter((name) => name.endsWith(".aside"))).toHaveLength(4);
  });

  test("a folder that was cleaned under its hands is made again", async () => {
    const folder = aFolder();
    const ring = ringIn(folder);
    ring.append(encodeEntry(entry("asked")));
    rmSync(folder, { recursive: true });
    ring.append(encodeEntry(entry("failed")));
    expect(await whats(folder)).toEqual(["failed"]);
  });
});

describe("readStory", () => {
  test("only the pod's own entries and what concerned every pod since it came; by container too", async () => {
    const folder = aFolder();
    const lines = [
      entry("daemon-started", { pod: everyPod, containerId: "", verb: "", facts: { bootId: "one" } }),
      entry("asked"),
      entry("asked", { pod: "shop/web-2", containerId: "c2" }),
      // Its name stands in another's text, quotes and all.
      entry("failed", { pod: "shop/other", containerId: "c3", facts: { detail: `,"shop/web",`, network: "shop/web" } }),
      entry("ran", { facts: { network: "shop/lan" } }),
      entry("network-opened", { pod: everyPod, facts: { network: "shop/lan" } }),
      entry("network-opened", { pod: everyPod, facts: { network: "shop/else" } }),
      entry("network-opened", { pod: everyPod }),
    ];
    ringIn(folder).append(lines.map(encodeEntry).join(""));
    expect(await whats(folder)).toEqual(["asked", "ran", "network-opened", "network-opened"]);
    expect((await readStory(folder, "", "c2")).entries.map(({ pod }) => pod)).toContain("shop/web-2");
    expect(await whats(folder, "shop", "nobody")).toEqual([]);
  });

  test("a reboot between two starts is shown", async () => {
    const folder = aFolder();
    const started = (bootId: string): RecorderEntry =>
      entry("daemon-started", { pod: everyPod, facts: { bootId, detail: "killed" } });
    ringIn(folder).append([started("one"), entry("asked"), started("one"), started("two")].map(encodeEntry).join(""));
    const { entries } = await readStory(folder, "shop", "web");
    expect(entries.map(({ facts }) => facts["detail"])).toEqual([undefined, "killed", "the machine was started again"]);
  });

  test("a long story keeps its end within what fits into an answer", async () => {
    const folder = aFolder();
    const ring = ringIn(folder, 8_388_608);
    for (let count = 0; count < 1_500; count += 1)
      ring.append(encodeEntry(entry(`step ${count}`, { facts: { stderr: "x".repeat(1_000) } })));
    const { entries, omitted } = await readStory(folder, "shop", "web");
    expect(entries.length + omitted).toBe(1_500);
    expect(entries.at(-1)?.what).toBe("step 1499");
    expect(JSON.stringify(entries).length).toBeLessThan(500_000);
  });

  test("a folder that is not there is an empty story", async () => {
    expect(await whats("/nonexistent/levee/recorder")).toEqual([]);
  });
});
