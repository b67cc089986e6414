import { describe, expect, test } from "bun:test";
import { defaultNetwork, type StoryFault } from "../story/story.ts";
import { waitMs } from "./pod-wait.ts";
import type { SimPodRecord } from "./sim-storm-end.ts";

const pod = {
  node: "node-1",
  namespace: "kube-system",
  name: "csi",
  isCritical: true,
  networks: ["lan"],
  atMs: 0,
  deleteAtMs: undefined,
  mustRun: true,
};

function waited(attachedMs: number | undefined, faults: readonly StoryFault[], wantedMs = 0): number | undefined {
  const record: SimPodRecord = {
    pod,
    arrivedMs: 0,
    wantedMs,
    attachedMs,
    goneMs: undefined,
    refusals: 0,
    isAttached: true,
  };
  return waitMs(
    record,
    faults.map((fault) => ({ node: "node-1", fault })),
  );
}

const hangs = { kind: "network-hangs", network: "lan", atMs: 0, forMs: 60_000 } as const;

describe("waitMs", () => {
  test("leaves out the time in which a fault held the pod up, also before the fault and behind it", () => {
    expect(waited(74_000, [hangs])).toBe(14_000);
    expect(waited(74_000, [{ ...hangs, atMs: 2_000 }])).toBe(14_000);
    expect(waited(74_000, [{ kind: "cut-power", atMs: 50_000 }])).toBe(54_000);
    expect(waited(74_000, [{ kind: "api-away", atMs: 0, forMs: 70_000 }])).toBe(4_000);
    expect(waited(74_000, [{ ...hangs, network: defaultNetwork }])).toBe(14_000);
  });

  test("counts two faults at one time once", () => {
    const disk = { kind: "disk-full", atMs: 50_000, forMs: 20_000 } as const;
    expect(waited(74_000, [hangs, disk, { ...disk, forMs: 1_000 }])).toBe(4_000);
  });

  test("counts on through kills, however often they come", () => {
    const kills = Array.from({ length: 31 }, (_, at) => ({ kind: "kill-shim" as const, atMs: 61_000 + at * 1_000 }));
    const daemon = kills.map(({ atMs }) => ({ kind: "kill-daemon" as const, atMs }));
    expect(waited(74_000, [hangs, ...kills, ...daemon])).toBe(14_000);
  });

  test("counts on through a fault that did not hold this pod", () => {
    expect(waited(74_000, [{ ...hangs, network: "dmz" }])).toBe(74_000);
    expect(waited(74_000, [{ ...hangs, forMs: 75_000 }])).toBe(74_000);
    expect(waited(74_000, [{ ...hangs, atMs: 74_000 }])).toBe(74_000);
    expect(waited(undefined, [hangs])).toBe(undefined);
  });

  test("begins anew when a power cut took what the pod had", () => {
    expect(waited(81_000, [{ kind: "cut-power", atMs: 60_000 }], 60_000)).toBe(1_000);
  });
});
