import { beforeEach, expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import { Election } from "./election.ts";
import { LeaseServer } from "./lease-server.fixture.ts";
import type { Term } from "./term.ts";

let clock: ManualClock;
let server: LeaseServer;

beforeEach(() => {
  clock = new ManualClock();
  server = new LeaseServer();
});

/** A guard that wants to lead, and its term once it does. */
function candidate(identity: string): { term: Term | undefined } {
  const options = {
    api: server,
    clock,
    logger: silentLogger,
    namespace: "levee-system",
    name: "levee-guard",
    identity,
  };
  const found: { term: Term | undefined } = { term: undefined };
  void new Election(options).lead(new AbortController().signal).then((term) => (found.term = term));
  return found;
}

test("Election makes the first guard the leader, and the second waits while the first renews", async () => {
  const first = candidate("a");
  await settleIo();
  const second = candidate("b");
  await clock.advance(120_000);
  expect(first.term?.isHeld()).toBe(true);
  expect(first.term?.fence).toBe(1);
  expect(second.term).toBeUndefined();
  expect(server.holder).toBe("a");
});

test("Election lets a successor lead within 20 s of the leader's last sign, with a higher fence", async () => {
  server.lease = { metadata: { resourceVersion: "5" }, spec: { holderIdentity: "dead", leaseTransitions: 41 } };
  server.writes = 5;
  const second = candidate("b");
  await clock.advance(15_000);
  expect(second.term).toBeUndefined();
  await clock.advance(5_000);
  expect(second.term?.fence).toBe(42);
  expect(server.holder).toBe("b");
});

test("Election recreates a deleted Lease above every earlier fence", async () => {
  let term: Term | undefined;
  const options = { api: server, clock, logger: silentLogger, namespace: "levee-system", name: "levee-guard" };
  const election = new Election({ ...options, identity: "b", fenceSeen: () => Promise.resolve(41) });
  void election.lead(new AbortController().signal).then((found) => (term = found));
  await settleIo();
  expect(term?.fence).toBe(42);
});

test("Election ignores the times in the Lease", async () => {
  const spec = { holderIdentity: "other", leaseTransitions: 1, renewTime: "1970-01-01T00:00:00.000000Z" };
  server.lease = { metadata: { resourceVersion: "1" }, spec };
  server.writes = 1;
  const mine = candidate("b");
  // The other guard renews with a stopped clock.
  for (let round = 0; round < 10; round += 1) {
    await clock.advance(5_000);
    server.writes += 1;
    server.lease = { metadata: { resourceVersion: String(server.writes) }, spec };
  }
  expect(mine.term).toBeUndefined();
});

test("Term is lost 10 s after its last renewal, before another guard may lead", async () => {
  const first = candidate("a");
  await settleIo();
  await clock.advance(4_000);
  server.trouble = new Error("away");
  await clock.advance(9_999);
  expect(first.term?.isHeld()).toBe(true);
  await clock.advance(1);
  expect(first.term?.isHeld()).toBe(false);
  expect(String(first.term?.lost.reason)).toContain("could not be renewed for 10000 ms");
  server.trouble = undefined;
  await clock.advance(60_000);
  expect(first.term?.isHeld()).toBe(false);
});

test("Term is lost at once when another guard has written the Lease", async () => {
  const first = candidate("a");
  await settleIo();
  server.lease = { metadata: { resourceVersion: "99" }, spec: { holderIdentity: "b", leaseTransitions: 2 } };
  await clock.advance(2_000);
  expect(first.term?.isHeld()).toBe(false);
  expect(server.holder).toBe("b");
});

test("Term goes on when its own write arrived and only the answer was lost", async () => {
  const first = candidate("a");
  await settleIo();
  const metadata = { resourceVersion: "99" };
  server.lease = { ...server.lease, metadata };
  await clock.advance(4_000);
  expect(first.term?.isHeld()).toBe(true);
  expect(server.lease["metadata"]).not.toEqual(metadata);
});

test("Term that is released lets a successor lead at its next look", async () => {
  const first = candidate("a");
  await settleIo();
  const second = candidate("b");
  await clock.advance(3_000);
  await first.term?.release();
  expect(server.holder).toBe("");
  await clock.advance(2_000);
  expect([first.term?.isHeld(), second.term?.isHeld()]).toEqual([false, true]);
  expect(second.term?.fence).toBe(2);
});

test("Election makes one leader of two that see a free Lease at the same time", async () => {
  const both = [candidate("a"), candidate("b")];
  await clock.advance(10_000);
  expect(both.filter(({ term }) => term !== undefined).length).toBe(1);
});

test("Election goes on through errors, and stops when it is told to", async () => {
  server.trouble = new Error("away");
  const first = candidate("a");
  await clock.advance(10_000);
  server.trouble = undefined;
  await clock.advance(2_000);
  expect(first.term?.isHeld()).toBe(true);
  const stopping = new AbortController();
  const options = { api: server, clock, logger: silentLogger, namespace: "n", name: "l", identity: "c" };
  const ended = new Election(options).lead(stopping.signal).catch((thrown: unknown) => String(thrown));
  await settleIo();
  stopping.abort(new Error("shutting down"));
  await clock.advance(2_000);
  expect(await ended).toContain("shutting down");
});
