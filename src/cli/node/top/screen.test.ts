import { describe, expect, test } from "bun:test";
import type { RecentFailure, TopAnswer } from "../../../wire/top-view.ts";
import { topScreen, type TopView } from "./screen.ts";

const mib = 1_048_576;

function answer(change: Partial<TopAnswer> = {}): TopAnswer {
  return {
    nodeName: "node-1",
    software: "levee 0.1.0",
    wallMs: 1_700_000_000_000,
    monotonicMs: 60_000,
    startedWallMs: 1_700_000_000_000 - 3_600_000,
    attachments: 219,
    leaks: 0,
    quarantined: 0,
    classes: [
      { class: "critical", running: 1, waiting: 0, oldestWaitMs: 0 },
      { class: "ordinary", running: 7, waiting: 180, oldestWaitMs: 4_230 },
      { class: "penalty", running: 0, waiting: 3, oldestWaitMs: 9_000 },
      { class: "detach", running: 2, waiting: 0, oldestWaitMs: 0 },
    ],
    slots: {
      attaching: 8,
      limit: 8,
      ceiling: 8,
      detaching: 2,
      detachLimit: 4,
      detachCeiling: 32,
      hung: 0,
      why: "at its ceiling",
    },
    flows: [
      { namespace: "fc-desktop", waiting: 150 },
      { namespace: "shop", waiting: 30 },
    ],
    heldPods: 0,
    hung: [],
    openNetworks: [],
    delegates: [{ plugin: "bridge", verb: "ADD", runs: 219, failed: 2, p50Ms: 41, p99Ms: 180, maxRssKib: 6_144 }],
    memory: { state: "free", usageBytes: 25 * mib, limitBytes: 50 * mib, delegateBytes: 0 },
    pressure: { cpu: 61.4, memory: 0, io: 3 },
    failures: [
      {
        wallMs: 1_700_000_000_000 - 5_000,
        namespace: "shop",
        pod: "web",
        verb: "ADD",
        reason: "delegate-failed: no room",
      },
    ],
    totals: { asked: 400, attached: 219, detached: 0, failed: 2, delegates: 440 },
    notices: [],
    ...change,
  };
}

function view(change: Partial<TopView> = {}): TopView {
  return {
    answer: answer(),
    before: undefined,
    columns: 100,
    rows: 40,
    paint: (_, text) => text,
    trouble: "",
    ...change,
  };
}

function text(change: Partial<TopView> = {}): string {
  return topScreen(view(change)).join("\n");
}

describe("topScreen", () => {
  test("the whole node on one screen", () => {
    expect(text()).toBe(
      [
        "22:13:20  node-1  levee 0.1.0  up 1h  219 attached",
        "so far  calls 400  attached 219  detached 0  failed 2  plugins 440",
        "slots   ADD 8 of 8 (ceiling 8)  DEL 2 of 4 (ceiling 32)  at its ceiling",
        "memory  [##########----------] 25.0 of 50.0 MiB, enough",
        "stalls  cpu 61 %  memory 0 %  io 3 % of the last 10 s",
        "",
        "CLASS     RUNNING  WAITING  OLDEST",
        "critical  1        0        -",
        "ordinary  7        180      4.2 s",
        "penalty   0        3        9.0 s",
        "detach    2        0        -",
        "",
        "IN LINE BY NAMESPACE",
        "fc-desktop  150",
        "shop        30",
        "",
        "SLOWEST PLUGINS  RUNS  FAILED  P50    P99     PEAK",
        "bridge ADD       219   2       41 ms  180 ms  6.0 MiB",
        "",
        "LAST FAILURES",
        "5s ago  ADD shop/web  delegate-failed: no room",
      ].join("\n"),
    );
  });

  test("rates are per second between two answers; a daemon that was started again has none", () => {
    const totals = { asked: 380, attached: 209, detached: 0, failed: 2, delegates: 400 };
    expect(text({ before: answer({ monotonicMs: 58_000, totals }) })).toContain(
      "calls 10.0/s  attached 5.0/s  detached 0.0/s  failed 0.0/s  plugins 20.0/s",
    );
    expect(text({ before: answer({ monotonicMs: 900_000 }) })).toContain("so far  calls 400");
  });

  test("what hangs and what fails comes first, with the next probe", () => {
    const shown = text({
      answer: answer({
        hung: [{ namespace: "shop", pod: "db", network: "shop/lan", plugin: "macvlan", forMs: 12_000 }],
        openNetworks: [{ network: "shop/lan", forMs: 9_000, failures: 4, reason: "no master", nextProbeMs: 2_000 }],
        slots: { ...answer().slots, hung: 1 },
      }),
    });
    expect(shown).toContain("HANGING\nshop/db  shop/lan  macvlan  12.0 s\n");
    expect(shown).toContain(
      "Network shop/lan fails for everybody for 9.0 s (4 failures), next try in 2.0 s: no master",
    );
    expect(shown).toContain("hung 1");
  });

  test.each([20, 40, 79, 200])("no line is wider than %d columns", (columns) => {
    const lines = topScreen(view({ columns, trouble: "x".repeat(300) }));
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(columns);
  });
});

describe("topScreen with more or less to show", () => {
  test("a low screen shows fewer rows of each list and says so", () => {
    const flows = Array.from({ length: 20 }, (_, at) => ({ namespace: `team-${at}`, waiting: 20 - at }));
    const lines = topScreen(view({ answer: answer({ flows }), rows: 24 }));
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.join("\n")).toMatch(/IN LINE BY NAMESPACE \(\d+ of 20\)/);
    expect(lines.join("\n")).toContain("LAST FAILURES");
    expect(topScreen(view({ rows: 5 }))).toHaveLength(5);
  });

  test("without a limit, pressure or lists nothing is made up", () => {
    const shown = text({
      answer: answer({
        memory: { state: "free", delegateBytes: 0 },
        pressure: {},
        flows: [],
        delegates: [],
        failures: [],
        heldPods: 2,
        leaks: 1,
      }),
    });
    expect(shown).toContain("memory  no limit");
    expect(shown).toContain("219 attached, 2 held, 1 leaks");
    for (const heading of ["stalls", "IN LINE", "SLOWEST", "LAST", "HANGING"]) expect(shown).not.toContain(heading);
  });

  test("failures of the same kind are one row, with the newest of them", () => {
    const failed = (secondsAgo: number, pod: string, reason: string): RecentFailure => ({
      ...answer().failures[0]!,
      wallMs: answer().wallMs - secondsAgo * 1_000,
      pod,
      reason,
    });
    const failures = [
      failed(9, "a", "waited 14.8 s, position 1 in line"),
      failed(3, "b", "waited 14.9 s, position 22 in line"),
      failed(5, "c", "no room"),
    ];
    expect(text({ answer: answer({ failures }) })).toEndWith(
      "3s ago  ADD shop/b and 1 more  waited 14.9 s, position 22 in line\n5s ago  ADD shop/c  no room",
    );
  });

  test("what a plugin said cannot drive the terminal", () => {
    const evil = { ...answer().failures[0]!, reason: "\u001b[2Jall is well\nreally\u0007" };
    expect(text({ answer: answer({ failures: [evil] }) })).toContain("ADD shop/web  all is well really");
  });

  test("a memory that is nearly used up is red, and kills are counted", () => {
    const memory = {
      state: "exhausted",
      usageBytes: 49 * mib,
      limitBytes: 50 * mib,
      oomKills: 3,
      delegateBytes: 0,
    } as const;
    const lines = topScreen(view({ answer: answer({ memory }), paint: (colour, shown) => `<${colour}>${shown}` }));
    expect(lines.find((line) => line.includes("memory  "))).toStartWith(
      "<red>memory  [####################] 49.0 of 50.0",
    );
    expect(lines.join()).toContain("3 OOM kills");
  });
});
