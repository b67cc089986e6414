import { describe, expect, test } from "bun:test";
import type { AttachmentView, TimelineEntry } from "../../wire/node-view.ts";
import { summaryOf, timelineText, type TimelineView } from "./timeline-text.ts";

const startMs = 1_700_000_000_000;
const id = "0123456789abcdef".repeat(4);

function entry(afterMs: number, what: string, facts: Partial<TimelineEntry> = {}): TimelineEntry {
  return { wallMs: startMs + afterMs, containerId: id, verb: "ADD", what, ...facts };
}

function attachment(change: Partial<AttachmentView> = {}): AttachmentView {
  const base = { isDefault: false, plugins: ["bridge"], mac: "" };
  return {
    namespace: "default",
    pod: "web",
    uid: "u",
    containerId: id,
    netns: "/run/netns/x",
    phase: "attached",
    sinceWallMs: startMs,
    networks: [
      { ...base, network: "default/lan", ifname: "eth0", ips: ["10.1.0.2/24"] },
      { ...base, network: "default/dmz", ifname: "net1", ips: ["10.2.0.2/24", "fd00::2/64"] },
    ],
    ...change,
  };
}

function view(entries: readonly TimelineEntry[], attachments: readonly AttachmentView[] = []): TimelineView {
  return {
    timeline: { namespace: "default", name: "web", entries },
    attachments,
    nowMs: startMs + 12_000,
    paint: (_, text) => text,
  };
}

test("timelineText tells what concerns every pod of the node below the summary", () => {
  const away = "The API server https://127.0.0.1:6443 has not answered since 2026-01-02T03:04:05Z";
  const base = view([entry(0, "asked")], [attachment()]);
  const text = timelineText({ ...base, timeline: { ...base.timeline, notices: [away] } });
  expect(text.split("\n")[1]).toBe(`! ${away}`);
});

test("timelineText names the trace of a call, and in the wide form the span of each plugin", () => {
  const [trace, span] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  const base = view([
    entry(0, "asked", { trace, span }),
    entry(5, "ran", { plugin: "bridge", span: "00000000000000aa" }),
  ]);
  expect(timelineText(base)).toContain(`asked  trace=${trace} span=${span}`);
  expect(timelineText(base)).not.toContain("span=00000000000000aa");
  expect(timelineText({ ...base, isWide: true })).toContain("bridge  span=00000000000000aa");
});

test("timelineText keeps an annotation that cannot be read apart from the change before it", () => {
  const plug = (afterMs: number, what: string, detail: string): TimelineEntry =>
    entry(afterMs, what, { verb: "PLUG", detail });
  const undone = [
    plug(0, "asked", "swap"),
    plug(1, "failed", "old one"),
    plug(2, "undone", ""),
    plug(3, "failed", "new one"),
  ];
  const looks = [
    plug(9_000, "failed", "not JSON"),
    plug(10_000, "failed", "not JSON"),
    plug(11_000, "waiting", "gone"),
  ];
  const blocks = timelineText(view([...undone, ...looks])).split("\n\n");
  expect(blocks.slice(1).map((block) => block.match(/asked|failed|undone|waiting/gu))).toEqual([
    ["asked", "failed", "undone", "failed"],
    ["failed", "failed", "waiting"],
  ]);
});

describe("summaryOf", () => {
  test("an attached pod: since when, and on which networks with which addresses", () => {
    expect(summaryOf(view([], [attachment()]))).toBe(
      "default/web attached 12s ago on default/lan (eth0 10.1.0.2), default/dmz (net1 10.2.0.2 fd00::2)",
    );
  });

  test("the newest of two sandboxes counts", () => {
    const older = attachment({ phase: "detaching", sinceWallMs: startMs - 60_000 });
    expect(summaryOf(view([], [attachment(), older]))).toContain("attached 12s ago");
  });

  test.each([
    ["attaching", "is being attached, started 12s ago: default/lan"],
    ["detaching", "is being detached, started 12s ago"],
    ["undoing", "failed: no addresses left; the undo started 12s ago"],
    ["lost", "lost its shim 12s ago; the undo is due"],
  ] as const)("phase %s", (phase, words) => {
    const failed = entry(5, "failed", { detail: "no addresses left" });
    expect(summaryOf(view([failed], [attachment({ phase })]))).toContain(words);
  });

  test("while it is undone, what went wrong is the step that did", () => {
    const entries = [entry(0, "asked"), entry(5, "ran", { detail: "the switch does not answer" })];
    expect(summaryOf(view(entries, [attachment({ phase: "undoing" })]))).toContain(
      "failed: the switch does not answer;",
    );
  });

  test("a failed pod: the reason, even when its DEL came after it", () => {
    const entries = [
      entry(0, "asked"),
      entry(50, "failed", { detail: "lan is full" }),
      entry(60, "asked", { verb: "DEL" }),
    ];
    expect(summaryOf(view(entries))).toBe("default/web failed 11s ago: lan is full");
  });

  test("a detached pod", () => {
    const entries = [entry(0, "asked"), entry(9000, "finished", { verb: "DEL" })];
    expect(summaryOf(view(entries))).toBe("default/web detached 3s ago");
  });

  test("a pod whose failed attach was deleted never was attached", () => {
    const entries = [
      entry(0, "asked"),
      entry(50, "failed", { detail: "lan is full" }),
      entry(60, "asked", { verb: "DEL" }),
      entry(70, "finished", { verb: "DEL" }),
    ];
    expect(summaryOf(view(entries))).toBe("default/web could not be attached 11s ago and was undone: lan is full");
    const second = [
      ...entries,
      entry(80, "asked"),
      entry(90, "acknowledged"),
      entry(9_000, "finished", { verb: "DEL" }),
    ];
    expect(summaryOf(view(second))).toBe("default/web detached 3s ago");
  });

  test("a leak points to levee leaks", () => {
    expect(summaryOf(view([entry(0, "leaked", { detail: "bridge timed out" })]))).toBe(
      "default/web left something behind 12s ago, see levee leaks: bridge timed out",
    );
  });

  test("what it does not know it does not make up", () => {
    expect(summaryOf(view([]))).toBe("default/web: nothing is recorded about it");
    expect(summaryOf(view([entry(0, "waiting")]))).toBe("default/web is not attached; last seen 12s ago: ADD waiting");
    expect(summaryOf(view([entry(0, "failed")]))).toContain("no reason on record");
  });

  test("a pod without a name goes by its container", () => {
    const nameless = { ...view([entry(0, "waiting")]), timeline: { namespace: "", name: id, entries: [] } };
    expect(summaryOf(nameless)).toStartWith(`${id}: `);
  });
});

describe("timelineText", () => {
  test("one block a call: absolute start, then each step with its distance, place, plugin, time and memory", () => {
    const text = timelineText(
      view([
        entry(0, "asked"),
        entry(3, "planned", { detail: "default/lan as eth0" }),
        entry(25, "ran", { network: "default/lan", ifname: "eth0", plugin: "bridge", tookMs: 22.4, maxRssKib: 5018 }),
        entry(1500, "acknowledged"),
      ]),
    );
    expect(text.split("\n").slice(2)).toEqual([
      "ADD of 0123456789abc, 2023-11-14T22:13:20.000Z (12s ago)",
      "  +0.0 ms  asked",
      "  +3.0 ms  planned       default/lan as eth0",
      "   +25 ms  ran           default/lan eth0  bridge  took 22 ms  4.9 MiB",
      "   +1.5 s  acknowledged",
      "",
    ]);
  });

  test("keeps interleaved calls apart, and starts a new block at every ask", () => {
    const other = "f".repeat(64);
    const text = timelineText(
      view([
        entry(0, "asked"),
        entry(1, "asked", { containerId: other, verb: "DEL" }),
        entry(2, "waiting"),
        entry(3, "finished", { containerId: other, verb: "DEL" }),
        entry(9000, "asked"),
      ]),
    );
    expect(text.match(/^(?:ADD|DEL) of .{13}/gmu)).toEqual([
      "ADD of 0123456789abc",
      "DEL of fffffffffffff",
      "ADD of 0123456789abc",
    ]);
    expect(text).toContain("  +0.0 ms  asked\n  +2.0 ms  waiting\n");
  });

  test("an undo's DELs of plugins have their own heading, apart from the runtime's DEL", () => {
    const text = timelineText(
      view([
        entry(0, "asked"),
        entry(5, "ran", { detail: "no" }),
        entry(6, "ran", { verb: "DEL", plugin: "bridge" }),
        entry(7, "undone", { verb: "UNDO" }),
        entry(8, "failed", { detail: "no" }),
        entry(9, "network-opened", { containerId: "", verb: "", network: "lan" }),
        entry(10, "asked", { verb: "DEL" }),
        entry(11, "finished", { verb: "DEL" }),
      ]),
    );
    const headings = [...text.matchAll(/^(\w+) of /gmu)].map(([, verb]) => verb);
    expect(headings).toEqual(["ADD", "UNDO", "DEL"]);
    expect(text.match(/began to fail for everybody/gu)).toHaveLength(1);
  });

  test("shows a plugin's stderr under its step, line by line and without its control characters", () => {
    const text = timelineText(view([entry(0, "ran", { plugin: "bridge", stderr: "\u001b[2Jone\r\ntwo\u0007\n\n" })]));
    expect(text).toContain("  +0.0 ms  ran  bridge\n      stderr: one\n      stderr: two\n");
  });

  test("a hostile detail stays on its line", () => {
    const text = timelineText(view([entry(0, "failed", { detail: "x\n\u001b[1A\u001b[2Kall is well" })]));
    expect(text).toContain("failed  x all is well\n");
  });

  test("paints failures", () => {
    const painted = timelineText({ ...view([entry(0, "failed")]), paint: (colour, text) => `<${colour}>${text}</>` });
    expect(painted).toContain("<red>  +0.0 ms  failed</>");
  });
});

describe("timelineText of a pod that is not attached", () => {
  const waiting = {
    class: "ordinary",
    waitedMs: 4_230,
    limitMs: 15_000,
    position: 12,
    inLine: 219,
    ofItsNamespace: 2,
    namespaces: [
      { namespace: "fc-desktop", waiting: 217 },
      { namespace: "default", waiting: 2 },
    ],
    namespacesTotal: 2,
    running: 8,
    slots: 8,
    expectedMs: 900,
    blocker: "all slots are taken",
  };

  test("in line: for how long, where, behind which pods, what for", () => {
    const base = view([entry(0, "asked"), entry(1, "waiting")]);
    expect(summaryOf({ ...base, timeline: { ...base.timeline, now: { waiting } } })).toBe(
      "default/web is waiting 4.2 s, position 12 of 219 (class ordinary), in line with 1 more of default, 217 of fc-desktop; " +
        "all slots are taken (8 of 8 slots), about 900 ms more at the present rate; told to come back after 15.0 s",
    );
  });

  test("held: how often it failed, when it is tried again, what would help", () => {
    const failing = { failures: 3, nextTryMs: 12_300, cause: "own", reason: "no such network" };
    const base = view([entry(0, "asked"), entry(1, "failed", { detail: "no such network" })]);
    expect(summaryOf({ ...base, timeline: { ...base.timeline, now: { failing } } })).toBe(
      "default/web failed 3 times in a row, next try in 12.3 s; a change of the pod or its networks ends the wait; last: no such network",
    );
    // Due now: then it is a pod that failed.
    const due = { ...failing, nextTryMs: 0 };
    expect(summaryOf({ ...base, timeline: { ...base.timeline, now: { failing: due } } })).toContain("failed 11s ago");
  });

  test("hung: which plugin of which network, before anything that attached says", () => {
    const hung = { namespace: "default", pod: "web", network: "default/lan", plugin: "bridge", forMs: 8_000 };
    const base = view([entry(0, "asked"), entry(5, "hung")], [attachment({ phase: "attaching" })]);
    expect(summaryOf({ ...base, timeline: { ...base.timeline, now: { hung } } })).toBe(
      "default/web hangs for 8.0 s: bridge of default/lan uses no CPU and does not end; its slot is given to others",
    );
  });

  test("a network that fails for everybody stands below the summary", () => {
    const open = { network: "default/lan", forMs: 20_000, failures: 5, reason: "no route", nextProbeMs: 3_000 };
    const base = view([entry(0, "asked")]);
    const text = timelineText({ ...base, timeline: { ...base.timeline, now: { waiting, openNetworks: [open] } } });
    expect(text.split("\n")[1]).toBe(
      "! Network default/lan fails for everybody for 20.0 s (5 failures), next try in 3.0 s: no route",
    );
  });
});

describe("timelineText across restarts", () => {
  const restarted = { containerId: "", verb: "", detail: "the one before it was killed or died" };

  test("a restart stands in the call that was under way, and between calls otherwise", () => {
    const lines = timelineText(
      view([
        entry(0, "asked"),
        entry(5, "daemon-started", restarted),
        entry(6, "resumed"),
        entry(7, "acknowledged"),
        entry(9, "daemon-started", restarted),
      ]),
    ).split("\n");
    expect(lines.filter((line) => line.includes("The daemon was started"))).toHaveLength(2);
    expect(lines.findIndex((line) => line.includes("daemon-started"))).toBeLessThan(
      lines.findIndex((line) => line.includes("resumed")),
    );
    expect(lines.findLast((line) => line !== "")).toStartWith("The daemon was started (the one before it was killed");
  });

  test("-o wide adds times of day, whole IDs, exit codes and UIDs; failures in a row are told in both", () => {
    const base = view([
      entry(0, "asked", { uid: "u-1" }),
      entry(30, "ran", { plugin: "bridge", exitCode: 1, detail: "no room" }),
      entry(40, "charged", { failures: 2, holdMs: 9_000 }),
    ]);
    const text = timelineText(base);
    expect(text).not.toContain("exit=1");
    expect(text).toContain("failed 2 times in a row, next try after 9.0 s");
    const wide = timelineText({ ...base, isWide: true });
    for (const part of [`ADD of ${id}`, "exit=1", "uid=u-1", "22:13:20.030"]) expect(wide).toContain(part);
  });
});
