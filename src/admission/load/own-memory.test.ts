import { expect, test } from "bun:test";
import { judgeMemory, parseOwnMemory, type MemoryState } from "./own-memory.ts";

const mib = 2 ** 20;

test("parseOwnMemory reads cgroup v2, less the pages that can be given back, and keeps the program's text", () => {
  const memory = parseOwnMemory({
    limit: `${50 * mib}\n`,
    usage: `${49 * mib}\n`,
    // A daemon of 20 MiB whose program text fills the rest.
    stat: [
      `anon ${20 * mib}`,
      `file ${27 * mib}`,
      `file_mapped ${24 * mib}`,
      `inactive_file ${10 * mib}`,
      `active_file ${17 * mib}`,
      `slab_reclaimable ${mib}`,
    ].join("\n"),
    events: "low 0\nhigh 3\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n",
  });
  expect(memory).toEqual({ limitBytes: 50 * mib, usageBytes: (49 - 27 - 1 + 12) * mib, oomKills: 1 });
  expect(judgeMemory(memory, "free")).toBe("free");
});

test("parseOwnMemory reads cgroup v1, where the totals include what is below", () => {
  const memory = parseOwnMemory({
    limit: "52428800\n",
    usage: "41943040\n",
    stat: "cache 1\ninactive_file 5\ntotal_mapped_file 43040\ntotal_inactive_file 900000\ntotal_active_file 43040\n",
    events: "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
  });
  expect(memory).toEqual({ limitBytes: 52_428_800, usageBytes: 41_043_040, oomKills: 2 });
});

test.each([
  ["max\n", "1\n"],
  ["9223372036854771712\n", "1\n"],
  [undefined, "1\n"],
  ["100\n", undefined],
  ["100\n", "-1\n"],
])("parseOwnMemory knows no limit from %j and %j", (limit, usage) => {
  expect(parseOwnMemory({ limit, usage, stat: undefined, events: undefined })).toBeUndefined();
});

test("parseOwnMemory does without the files that are not there", () => {
  const memory = parseOwnMemory({ limit: "100", usage: "90", stat: undefined, events: undefined });
  expect(memory).toEqual({ limitBytes: 100, usageBytes: 90, oomKills: undefined });
});

test("judgeMemory freezes at 85 %, stops at 95 %, and does not flutter at the marks", () => {
  let state: MemoryState = "free";
  const states = [84, 85, 83, 81, 94, 95, 93, 91, 81, 0].map((usageBytes) => {
    state = judgeMemory({ limitBytes: 100, usageBytes, oomKills: 0 }, state);
    return state;
  });
  expect(states).toEqual([
    "free",
    "frozen",
    "frozen",
    "free",
    "frozen",
    "exhausted",
    "exhausted",
    "frozen",
    "free",
    "free",
  ]);
  expect(judgeMemory(undefined, "exhausted")).toBe("free");
});
