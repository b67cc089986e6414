import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeEntry, everyPod, type RecorderEntry } from "./recorder-entry.ts";
import { RecorderRing } from "./recorder-ring.ts";
import { readStorms } from "./read-storms.ts";
import { stormEntries, stormEntry as entry, stormStartMs } from "./storm-entries.fixture.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "levee-storms-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(...entries: readonly RecorderEntry[]): void {
  const ring = new RecorderRing(join(folder, "recorder"), 8_388_608);
  const inOrder = entries.toSorted((left, right) => left.wallMs - right.wallMs);
  for (const one of inOrder) ring.append(encodeEntry(one));
  ring.close();
}

const read = (words: "own" | "all" = "own"): ReturnType<typeof readStorms> =>
  readStorms(join(folder, "recorder"), words);

const secret = "delegate-failed: Cannot attach: token=hunter2";

function outage(): readonly RecorderEntry[] {
  return [
    ...stormEntries(30),
    ...stormEntries(219, 3_600_000),
    entry(3_600_500, "fc-desktop/rd-1", "oom-killed", { network: "lan" }),
    entry(3_600_550, "fc-desktop/rd-2", "ran", { network: "shop/lan", plugin: "bridge", detail: "token=hunter2" }),
    entry(3_600_560, "fc-desktop/rd-2", "ran", { network: "shop/lan", plugin: "bridge" }),
    entry(3_600_600, "fc-desktop/rd-2", "failed", { detail: secret }),
    { ...entry(3_600_601, "fc-desktop/rd-2", "failed", { detail: secret }), verb: "DEL" },
    entry(3_600_610, "fc-desktop/rd-2", "charged", { failures: 1, holdMs: 12_000 }),
    entry(3_600_700, "shop/other", "failed", { detail: "it never waited" }),
    { ...entry(3_600_800, everyPod, "network-opened", { network: "shop/lan", detail: "token=hunter2" }), verb: "" },
    { ...entry(3_600_900, everyPod, "daemon-started", { detail: "the one before it was killed or died" }), verb: "" },
  ];
}

test("readStorms counts each storm: who waited, how long, by class, and what was killed, held and left behind", async () => {
  write(...outage());
  const { sinceMs, storms } = await read();
  expect([sinceMs, storms.length]).toEqual([stormStartMs, 2]);
  const [, large] = storms;
  const fromMs = stormStartMs + 3_600_000;
  expect(large).toMatchObject({
    ...{ fromMs, toMs: fromMs + 1_000 + 218 * 500, lineMax: 219, lineMaxMs: fromMs + 218 },
    ...{ pods: 219, namespaces: [["fc-desktop", 219]], attached: 219 },
    ...{ failures: [["delegate-failed", 1]], plugins: [["bridge of shop/lan", 1]] },
    ...{ held: 1, holdMsMax: 12_000, oomKills: 1, hung: 0, leaks: 0 },
    classes: [
      { name: "ordinary", pods: 218, waitMsMax: 110_000 },
      { name: "critical", pods: 1, waitMsMax: 1_000 },
    ],
  });
  const turns = large!.waits.reduce((sum, [, times]) => sum + times, 0);
  expect([turns, large!.waits.at(0), large!.waits.at(-1)]).toEqual([219, [1_000, 1], [110_000, 2]]);
});

test("readStorms has no words of plugins for strangers, and all of them for the node itself", async () => {
  write(...outage());
  const own = await read("own");
  expect(JSON.stringify(own)).not.toContain("hunter2");
  expect(own.storms[1]?.moments).toEqual([
    { atMs: stormStartMs + 3_600_800, what: "network-opened", detail: "shop/lan" },
    { atMs: stormStartMs + 3_600_900, what: "daemon-started", detail: "the one before it was killed or died" },
  ]);
  const all = await read("all");
  expect(all.storms[1]).toMatchObject({ failures: [[secret, 1]], moments: [{ detail: "token=hunter2" }, {}] });
});

test("readStorms keeps the largest lines, however many there were, and little of each", async () => {
  const lines = Array.from({ length: 40 }, (_, hour) => stormEntries(hour + 1, hour * 3_600_000, `at${hour}`));
  const spaces = Array.from({ length: 300 }, (_, index) => entry(140_400_000, `ns-${index}/web`, "waiting"));
  write(...lines.flat(), ...spaces);
  const { storms } = await read();
  expect(storms.map(({ pods }) => pods)).toEqual([29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 340]);
  expect(storms.at(-1)?.namespaces).toHaveLength(50);
});

test("readStorms finds nothing in an empty recorder, and no line where pods got their turn at once", async () => {
  expect(await read()).toEqual({ sinceMs: 0, storms: [] });
  write(...Array.from({ length: 40 }, (_, index) => entry(index, `a/b-${index}`, "permitted")));
  expect(await read()).toEqual({ sinceMs: stormStartMs, storms: [] });
});
