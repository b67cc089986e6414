import { expect, test } from "bun:test";
import { judgeMemory, parseOwnMemory, type MemoryState } from "./own-memory.ts";

test("parseOwnMemory reads cgroup v2, less the pages that can be given back", () => {
  const memory = parseOwnMemory({
    limit: "52428800\n",
    usage: "41943040\n",
    stat: "anon 20000000\nfile 15000000\ninactive_file 10485760\nactive_file 4194304\n",
    events: "low 0\nhigh 3\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n",
  });
  expect(memory).toEqual({ limitBytes: 52_428_800, usageBytes: 31_457_280, oomKills: 1 });
});

test("parseOwnMemory reads cgroup v1, where the totals include what is below", () => {
  const memory = parseOwnMemory({
    limit: "52428800\n",
    usage: "41943040\n",
    stat: "cache 1\ninactive_file 5\ntotal_inactive_file 943040\n",
    events: "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
  });
  expect(memory).toEqual({ limitBytes: 52_428_800, usageBytes: 41_000_000, oomKills: 2 });
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
