import { expect, test } from "bun:test";
import { systemClock } from "../../../base/clock.ts";
import { silentLogger } from "../../../base/log.ts";
import type { Hand } from "../../../hands/hand.ts";
import type { FolderEntry } from "../../../wire/folder-page.ts";
import { ConfCache } from "../../look-up/conf-cache.ts";
import { Turns } from "../../serve/turns.ts";
import { OrphanLeases } from "./orphan-leases.ts";

const nowMs = 10_000_000;
const minuteMs = 60_000;
const sight = { alive: new Set<never>(), gone: new Set<never>(), places: new Set<never>() };

/** A node that booted five hours ago, with one file of host-local of that age, empty unless told otherwise. */
function nodeWith(
  fileAgeMs: number,
  {
    content = "",
    features = ["list", "remove"],
  }: { readonly content?: string; readonly features?: readonly string[] } = {},
): {
  readonly leases: OrphanLeases;
  readonly hand: Hand;
  readonly removed: string[];
} {
  const folders: Readonly<Record<string, readonly FolderEntry[]>> = {
    "/var/lib/cni/networks": [{ name: "lan", kind: "folder", changedWallMs: 0, content: undefined }],
    "/var/lib/cni/networks/lan": [
      { name: "10.0.0.2", kind: "file", changedWallMs: nowMs - fileAgeMs, content: Buffer.from(content) },
    ],
    "/var/lib/cni/results": [],
  };
  const removed: string[] = [];
  const list = (path: string): Promise<unknown> =>
    Promise.resolve(folders[path] && { entries: folders[path], isTruncated: false, isShared: false });
  const remove = ({ path }: { path: string }): Promise<void> => Promise.resolve(void removed.push(path));
  const hand = {
    list,
    remove,
    isLost: false,
    supports: (feature: string) => features.includes(feature),
  } as unknown as Hand; // only what it uses
  const leases = new OrphanLeases({
    bootWallMs: () => Promise.resolve(nowMs - 300 * minuteMs),
    clock: { ...systemClock, wallMs: () => nowMs },
    config: { delegates: [], runtimeCniDir: "/var/lib/cni", cniDir: "/nowhere", binDir: "/bin" },
    logger: silentLogger,
    journal: { all: () => [], leaks: () => [], losses: () => [] },
    turns: new Turns(),
    view: { networks: () => [] },
    confs: new ConfCache(),
  });
  return { leases, hand, removed };
}

test("OrphanLeases frees an empty file of an earlier boot when it may, and no longer counts it", async () => {
  const { leases, hand, removed } = nodeWith(301 * minuteMs);
  await leases.round(hand, sight, { toFree: false, toRelease: false });
  expect({ count: leases.orphans.length, removed }).toEqual({ count: 1, removed: [] });
  const { findings } = await leases.round(hand, sight, { toFree: true, toRelease: false });
  expect(findings).toMatchObject([{ address: "10.0.0.2", action: "released" }]);
  expect({ count: leases.orphans.length, removed }).toEqual({
    count: 0,
    removed: ["/var/lib/cni/networks/lan/10.0.0.2"],
  });
});

test("OrphanLeases frees an empty file of this boot only when a person asks, and after ten minutes", async () => {
  const young = nodeWith(9 * minuteMs);
  const { findings } = await young.leases.round(young.hand, sight, { toFree: true, toRelease: true });
  expect(findings).toMatchObject([{ action: "wait" }]);
  expect(young.removed).toEqual([]);
  const { leases, hand, removed } = nodeWith(11 * minuteMs);
  const why = "the file is empty, as if host-local was killed while it wrote";
  const own = await leases.round(hand, sight, { toFree: true, toRelease: false });
  expect(own.findings).toMatchObject([{ address: "10.0.0.2", action: "release", why }]);
  expect({ count: leases.orphans.length, removed }).toEqual({ count: 1, removed: [] });
  const asked = await leases.round(hand, sight, { toFree: true, toRelease: true });
  expect(asked.findings).toMatchObject([{ address: "10.0.0.2", action: "released", why }]);
  expect(removed).toEqual(["/var/lib/cni/networks/lan/10.0.0.2"]);
});

test("OrphanLeases leaves a file with something else in it, and all of it with an old hand, to a person", async () => {
  const why = "the file names no container; remove /var/lib/cni/networks/lan/10.0.0.2 by hand";
  for (const node of [
    nodeWith(301 * minuteMs, { content: "not a lease" }),
    nodeWith(301 * minuteMs, { features: ["list"] }),
  ]) {
    const { findings } = await node.leases.round(node.hand, sight, { toFree: true, toRelease: true });
    expect(findings).toMatchObject([{ address: "10.0.0.2", action: "report", why }]);
    expect(node.removed).toEqual([]);
  }
});
