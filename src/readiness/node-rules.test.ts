import { describe, expect, test } from "bun:test";
import { apiCheck, viewCheck, type FollowFacts } from "./follow-rules.ts";
import { canaryCheck, handCheck, type HandFacts } from "./hand-rules.ts";
import { isJournalStuck, journalCheck, leaksCheck, quarantineCheck, type JournalFacts } from "./state-rules.ts";

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
const follow: FollowFacts = {
  resource: "pods",
  objects: 12,
  isSynced: true,
  lastError: undefined,
  failingSinceMs: undefined,
  isUnreachable: false,
  isAbsent: false,
};

describe("apiCheck", () => {
  test("holds while every watch works, and for the moment in which one is opened again", () => {
    expect(apiCheck([follow], nowMs).state).toBe("ok");
    expect(apiCheck([{ ...follow, failingSinceMs: nowMs - 4_000, isUnreachable: true }], nowMs).state).toBe("ok");
  });

  test("tells since when the API server is away, by the watch that noticed first", () => {
    const away = { ...follow, failingSinceMs: nowMs - 60_000, isUnreachable: true, lastError: "ECONNREFUSED" };
    const check = apiCheck([{ ...away, failingSinceMs: nowMs - 30_000 }, away], nowMs);
    expect(check).toMatchObject({ state: "failed", detail: "away since 2026-01-02T03:03:05.000Z: ECONNREFUSED" });
  });

  test("only warns of a cluster without the definition of networks", () => {
    const absent = { ...follow, resource: "networks", isSynced: false, isAbsent: true, failingSinceMs: nowMs - 60_000 };
    expect(apiCheck([follow, absent], nowMs)).toMatchObject({
      state: "warning",
      detail: "the cluster has no networks: pods get the primary network only",
    });
    expect(viewCheck([follow, absent]).state).toBe("ok");
  });

  test("tells a refusal from an absence", () => {
    const refused = { ...follow, failingSinceMs: nowMs - 60_000, lastError: "403 Forbidden" };
    expect(apiCheck([refused], nowMs).detail).toStartWith("pods refused since 2026-01-02");
  });
});

describe("viewCheck", () => {
  test("fails until every resource has been listed once", () => {
    const networks = { ...follow, resource: "networks", isSynced: false };
    expect(viewCheck([follow, networks])).toMatchObject({
      state: "failed",
      detail: "no complete list of networks has been taken yet",
    });
    expect(viewCheck([follow, { ...networks, isSynced: true }]).detail).toBe("12 pods, 12 networks");
    expect(viewCheck([{ ...follow, objects: 1 }]).detail).toBe("1 pod");
  });
});

const hand: HandFacts = { isPresent: true, sinceMs: 600_000, canaryLack: undefined, canary: undefined };
const canary = { isSuccess: true, isInconclusive: false, ageMs: 20_000, tookMs: 12, reason: "" };

describe("canaryCheck", () => {
  test("fails neither without a hand nor with one that is too old to be asked", () => {
    expect(canaryCheck({ ...hand, isPresent: false }).state).toBe("ok");
    expect(canaryCheck({ ...hand, canaryLack: "it speaks protocol 1" }).state).toBe("warning");
    expect(handCheck({ ...hand, isPresent: false }).state).toBe("warning");
    expect(handCheck(hand).state).toBe("ok");
  });

  test("holds with a young success, and while a new hand has not had its time", () => {
    expect(canaryCheck({ ...hand, canary })).toMatchObject({
      state: "ok",
      detail: "loopback was added and deleted 20 s ago, in 12 ms",
    });
    expect(canaryCheck({ ...hand, sinceMs: 5_000 }).state).toBe("ok");
    expect(canaryCheck({ ...hand, sinceMs: 5_000, canary: { ...canary, ageMs: 900_000 } }).state).toBe("ok");
  });

  test("fails with the reason of a failed trial", () => {
    const failed = { ...canary, isSuccess: false, reason: "the plugin loopback is not in /opt/cni/bin" };
    expect(canaryCheck({ ...hand, canary: failed })).toMatchObject({ state: "failed", detail: failed.reason });
  });

  test("only warns when the hand searched a default folder for the plugin", () => {
    const guess = { ...canary, isSuccess: false, isInconclusive: true, reason: "the plugin loopback is not in /a" };
    expect(canaryCheck({ ...hand, canary: guess })).toMatchObject({ state: "warning", detail: guess.reason });
  });

  test("fails when the last trial is older than three minutes, or none has ended in that time", () => {
    expect(canaryCheck({ ...hand, canary: { ...canary, ageMs: 180_001 } }).detail).toBe("the last trial is 180 s old");
    expect(canaryCheck(hand).detail).toBe("no trial has finished for 600 s");
  });
});

const journal: JournalFacts = {
  unwritable: undefined,
  stuckMs: 0,
  unwritten: 0,
  quarantined: 0,
  leaks: 0,
  attachments: 3,
};

describe("journalCheck", () => {
  test("fails when it cannot be written or a write does not end", () => {
    expect(journalCheck(journal).state).toBe("ok");
    expect(journalCheck({ ...journal, unwritable: "ENOSPC" })).toMatchObject({ state: "failed", detail: "ENOSPC" });
    expect(journalCheck({ ...journal, unwritable: "EROFS", unwritten: 2 }).detail).toBe(
      "EROFS; 2 entries are only in memory until then",
    );
    expect(journalCheck({ ...journal, stuckMs: 16_000 }).detail).toBe("a write has been under way for 16 s");
  });

  test("asks for a restart only after two minutes", () => {
    expect(isJournalStuck({ stuckMs: 119_000 })).toBe(false);
    expect(isJournalStuck({ stuckMs: 121_000 })).toBe(true);
  });
});

test("leaksCheck and quarantineCheck warn and do not fail", () => {
  expect([leaksCheck(journal).state, quarantineCheck(journal).state]).toEqual(["ok", "ok"]);
  expect(leaksCheck({ leaks: 1 })).toMatchObject({ state: "warning", detail: "1 thing could not be undone yet" });
  expect(quarantineCheck({ quarantined: 2 }).detail).toStartWith("2 damaged records were put aside");
});
