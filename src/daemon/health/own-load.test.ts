import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Admission } from "../../admission/admission.ts";
import type { Check } from "../../readiness/check.ts";
import { readLoad, startOwnLoad } from "./own-load.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { until } from "../../base/until.fixture.ts";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function machine(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "levee-load-"));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const v2 = {
  "memory.max": "100\n",
  "memory.current": "90\n",
  "memory.stat": "inactive_file 10\n",
  "memory.events": "oom_kill 2\n",
};
const v1 = {
  "memory.limit_in_bytes": "100\n",
  "memory.usage_in_bytes": "90\n",
  "memory.stat": "total_inactive_file 10\n",
  "memory.oom_control": "oom_kill 2\n",
};
const expected = { limitBytes: 100, usageBytes: 80, oomKills: 2 };

function under(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));
}

test.each([
  ["v2 by its path", { "proc/self/cgroup": "0::/pods/x\n", ...under("sys/fs/cgroup/pods/x", v2) }],
  ["v2 in a container", { "proc/self/cgroup": "0::/../../elsewhere\n", ...under("sys/fs/cgroup", v2) }],
  [
    "v1 by its path",
    { "proc/self/cgroup": "9:cpu:/\n5:memory:/pods/x\n0::/\n", ...under("sys/fs/cgroup/memory/pods/x", v1) },
  ],
  ["v1 in a container", { "proc/self/cgroup": "5:memory:/of/the/host\n", ...under("sys/fs/cgroup/memory", v1) }],
])("readLoad finds the daemon's own cgroup: %s", async (_what, files) => {
  expect(readLoad(machine(files)).ownMemory).toEqual(expected);
});

test("readLoad reads the host's pressure, and accepts missing files", async () => {
  const root = machine({
    "proc/pressure/memory": "some avg10=1.50 avg60=0 avg300=0 total=1\nfull avg10=0.50 avg60=0 avg300=0 total=1\n",
  });
  expect(readLoad(root)).toEqual({
    ownMemory: undefined,
    pressure: { cpu: undefined, memory: { some: 1.5, full: 0.5 }, io: undefined },
    coresWaitedMs: undefined,
  });
  const waited = machine({ "proc/pressure/cpu": "some avg10=1.50 avg60=0 avg300=0 total=7000\n" });
  expect(readLoad(waited)).toMatchObject({ pressure: { cpu: { some: 1.5, full: 0 } }, coresWaitedMs: 7 });
});

test("readLoad treats a missing limit as none", async () => {
  const files = { "proc/self/cgroup": "0::/\n", ...under("sys/fs/cgroup", { ...v2, "memory.max": "max\n" }) };
  expect(readLoad(machine(files)).ownMemory).toBeUndefined();
});

test("startOwnLoad freezes and stops ADDs as memory fills, logs each change once, and never fails a check", async () => {
  const clock = new VirtualClock();
  const admission = new Admission({ clock });
  const root = machine({ "proc/self/cgroup": "0::/\n", ...under("sys/fs/cgroup", v2) });
  const said: string[] = [];
  const say = (level: string) => (message: string) => void said.push(`${level}: ${message}`);
  const logger = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
  let read: () => readonly Check[] = () => [];
  const checks = { add: (reader: typeof read) => void (read = reader) };
  const service = startOwnLoad({ clock, logger, admission, checks, root });
  expect(read()).toMatchObject([{ name: "memory", state: "ok" }]);
  const state = (): string => `${admission.facts().ownMemory} ${read()[0]?.state ?? ""}`;
  for (const [usage, expected] of [
    ["50", "free ok"],
    ["96", "frozen warning"],
    ["96", "frozen warning"],
    ["106", "exhausted warning"],
    ["80", "free ok"],
  ] as const) {
    writeFileSync(join(root, "sys/fs/cgroup/memory.current"), usage);
    await clock.advance(1_000);
    // The files are real ones, and are read in their own time.
    await until(`a usage of ${usage} is ${expected}`, () => state() === expected);
  }
  await service.stop();
  expect(said).toEqual([
    "warn: The daemon's memory is short; the number of parallel ADDs no longer grows",
    "error: The daemon's memory is nearly used up; only DELs are served",
    "info: The daemon's memory is free again",
  ]);
});
