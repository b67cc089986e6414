import { expect, test } from "bun:test";
import { LeveeError } from "../../../base/errors.ts";
import { silentLogger } from "../../../base/log.ts";
import type { Hand } from "../../../hands/hand.ts";
import type { Lease } from "../../../hands/lease.ts";
import type { SeenFile } from "../../../wire/messages.ts";
import { freeSpent } from "./spent-leases.ts";

const booted = 1_000_000;

function lease(address: string, more: Partial<Lease> = {}): Lease {
  const place = { dataDir: "/var/lib/cni/networks", network: "lan" };
  return { ...place, address, containerId: "", isBlank: true, ifname: "", changedWallMs: booted - 1, ...more };
}

/** A hand that removes what it is told, except what `refuse` names. */
function handThat(refuse: (file: SeenFile) => string = () => "", version = 5): { hand: Hand; removed: SeenFile[] } {
  const removed: SeenFile[] = [];
  const remove = (file: SeenFile): Promise<void> => {
    const why = refuse(file);
    if (why !== "") return Promise.reject(new LeveeError("io-failed", why));
    removed.push(file);
    return Promise.resolve();
  };
  const hand = { remove, isLost: false, supports: () => version >= 5 } as unknown as Hand; // only what it uses
  return { hand, removed };
}

async function free(hand: Hand, leases: readonly Lease[], isActing = true): Promise<readonly string[]> {
  const bootWallMs = (): Promise<number> => Promise.resolve(booted);
  const findings = await freeSpent(hand, leases, { bootWallMs, logger: silentLogger, isActing });
  return [...findings.values()].map(({ network, address, action, detail }) =>
    `${network} ${address} ${action} ${detail}`.trim(),
  );
}

test("freeSpent removes what is empty and older than this boot, under the network's lock", async () => {
  const { hand, removed } = handThat();
  const named = lease("10.0.0.3", { containerId: "c1", isBlank: false });
  const foreign = lease("10.0.0.5", { isBlank: false });
  const ofThisBoot = lease("10.0.0.4", { changedWallMs: booted });
  expect(await free(hand, [lease("10.0.0.2"), named, ofThisBoot, foreign])).toEqual(["lan 10.0.0.2 released"]);
  const folder = "/var/lib/cni/networks/lan";
  expect(removed).toEqual([{ path: `${folder}/10.0.0.2`, changedWallMs: booted - 1, lock: `${folder}/lock` }]);
});

test("freeSpent only says so when the round only looks", async () => {
  const { hand, removed } = handThat();
  expect(await free(hand, [lease("10.0.0.2")], false)).toEqual(["lan 10.0.0.2 release"]);
  expect(removed).toEqual([]);
});

test("freeSpent leaves it all to a person when the hand is too old", async () => {
  const { hand, removed } = handThat(() => "", 4);
  expect(await free(hand, [lease("10.0.0.2")])).toEqual([]);
  expect(removed).toEqual([]);
});

test("freeSpent does not wait for a lock again that it could not have, and goes on with the next network", async () => {
  const asked: string[] = [];
  const { hand } = handThat(({ path, lock }) => {
    asked.push(path);
    return lock.includes("/lan/") ? "Cannot lock it" : "";
  });
  const leases = [lease("10.0.0.2"), lease("10.0.0.3"), lease("10.1.0.2", { network: "mac" })];
  expect(await free(hand, leases)).toEqual([
    "lan 10.0.0.2 failed Cannot lock it",
    "lan 10.0.0.3 failed Cannot lock it",
    "mac 10.1.0.2 released",
  ]);
  expect(asked).toEqual(["/var/lib/cni/networks/lan/10.0.0.2", "/var/lib/cni/networks/mac/10.1.0.2"]);
});

test("freeSpent does not ask the kernel for the boot when no file is empty", async () => {
  const bootWallMs = (): Promise<number> => Promise.reject(new Error("asked"));
  const { hand } = handThat();
  const needs = { bootWallMs, logger: silentLogger, isActing: true };
  expect((await freeSpent(hand, [lease("10.0.0.2", { containerId: "c1", isBlank: false })], needs)).size).toBe(0);
});
