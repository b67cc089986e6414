import { expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { settle } from "../base/virtual-clock.fixture.ts";
import { requestSlot, attachRequest, detachRequest, mib, never, node, okRun } from "./admission.fixture.ts";

const one = { attachCeiling: 1, detachCeiling: 1 };

test("admit gives the slot to the next in line when the permit is disposed, and once only", async () => {
  const { admission } = node(one);
  const first = requestSlot(admission, attachRequest({ pod: "a/1" }));
  const second = requestSlot(admission, attachRequest({ pod: "a/2" }));
  const third = requestSlot(admission, attachRequest({ pod: "a/3" }));
  await settle();
  expect([first.permit, second.permit].map((permit) => permit !== undefined)).toEqual([true, false]);
  first.permit?.[Symbol.dispose]();
  first.permit?.[Symbol.dispose]();
  first.permit?.ran(okRun());
  first.permit?.settle("ok");
  await settle();
  expect([second.permit, third.permit].map((permit) => permit !== undefined)).toEqual([true, false]);
  expect(admission.facts()).toMatchObject({ attaching: 1, waiting: { ordinary: 1 } });
});

test("admit never queues or counts an exempt call", async () => {
  const { admission } = node(one);
  requestSlot(admission, attachRequest());
  const exempt = Array.from({ length: 50 }, () => requestSlot(admission, attachRequest({ kind: "other" })));
  await settle();
  expect(exempt.every(({ permit }) => permit !== undefined)).toBe(true);
  for (const { permit } of exempt) {
    permit?.started("primary");
    permit?.ran(okRun());
    permit?.[Symbol.dispose]();
  }
  expect(admission.facts()).toMatchObject({ attaching: 1, detaching: 0 });
});

test("admit keeps slots for DEL that no ADD takes, and the other way round", async () => {
  const { admission } = node({ attachCeiling: 2, detachCeiling: 2 });
  const adds = Array.from({ length: 5 }, (_, pod) => requestSlot(admission, attachRequest({ pod: `a/${pod}` })));
  const dels = Array.from({ length: 5 }, (_, pod) => requestSlot(admission, detachRequest({ pod: `a/${pod}` })));
  await settle();
  const given = (asked: typeof adds): number => asked.filter(({ permit }) => permit !== undefined).length;
  expect([given(adds), given(dels)]).toEqual([2, 2]);
});

test("admit refuses an ADD after its time in line with code 11, position and expected time", async () => {
  const { admission, clock } = node(one);
  using first = await admission.admit(attachRequest({ pod: "a/0" }), never);
  await clock.advance(400);
  first[Symbol.dispose]();
  using _second = await admission.admit(attachRequest({ pod: "a/1" }), never);
  const third = requestSlot(admission, attachRequest({ pod: "a/2" }));
  requestSlot(admission, attachRequest({ pod: "b/1", namespace: "b" }));
  await clock.advance(69_000);
  expect(third.error).toBeUndefined();
  await clock.advance(1_000);
  expect((third.error as LeveeError).cniCode).toBe(11);
  expect(third.error?.message).toMatch(
    /^Cannot attach now: waited 69(?:\.\d)? s because all slots are taken, position 2 in line \(1 of its namespace\), about 0\.8 s more/,
  );
  expect(admission.facts()).toMatchObject({ attaching: 1, waiting: { ordinary: 0 } });
});

test("admit gives a DEL 36 s before the caller has to decide about it", async () => {
  const { admission, clock } = node(one);
  using _first = await admission.admit(detachRequest({ pod: "a/0" }), never);
  const second = requestSlot(admission, detachRequest({ pod: "a/1" }));
  await clock.advance(35_000);
  expect(second.error).toBeUndefined();
  await clock.advance(1_000);
  expect((second.error as LeveeError).code).toBe("try-later");
});

test("admit drops a request at once when its caller goes away", async () => {
  const { admission, clock, rulings } = node(one);
  using _first = await admission.admit(attachRequest(), never);
  const caller = new AbortController();
  const second = requestSlot(admission, attachRequest({ pod: "a/2" }), caller.signal);
  caller.abort(new LeveeError("hand-lost", "gone"));
  await settle();
  expect((second.error as LeveeError).code).toBe("hand-lost");
  expect(admission.facts().waiting["ordinary"]).toBe(0);
  expect(rulings.at(-1)?.what).toBe("cancelled");
  await clock.advance(1_000);
  expect(clock.timers).toBe(0);
  const late = requestSlot(admission, attachRequest({ pod: "a/3" }), caller.signal);
  await settle();
  expect((late.error as LeveeError).code).toBe("hand-lost");
});

test("admit takes no notice of a caller that goes away once it has its permit: that is the holder's to see", async () => {
  const { admission, rulings } = node(one);
  const [early, late] = [new AbortController(), new AbortController()];
  const first = requestSlot(admission, attachRequest(), early.signal);
  const second = requestSlot(admission, attachRequest({ pod: "a/2" }), late.signal);
  await settle();
  first.permit?.[Symbol.dispose]();
  // In the same tick as the grant: the permit is on its way, and its receiver must release it.
  late.abort(new Error("gone"));
  await settle();
  expect(second.permit).toBeDefined();
  expect(rulings.map(({ what }) => what)).toEqual(["admitted", "queued", "admitted"]);
  expect(admission.facts().attaching).toBe(1);
});

test("admit lets a retried ADD take the place of the queued one of the same pod", async () => {
  const { admission } = node(one);
  const first = requestSlot(admission, attachRequest({ pod: "a/0" }));
  const queued = requestSlot(admission, attachRequest({ pod: "a/1" }));
  const again = requestSlot(admission, attachRequest({ pod: "a/1" }));
  await settle();
  expect((queued.error as LeveeError).code).toBe("cancelled");
  first.permit?.[Symbol.dispose]();
  await settle();
  expect(again.permit).toBeDefined();
});

test("admit counts a retried ADD and the next of its network in one share", async () => {
  const { admission, clock } = node({ attachCeiling: 2, attachStart: 2 });
  const y = ["b/1", "b/2"].map((pod) => requestSlot(admission, attachRequest({ pod, networks: ["y"] })));
  const x = ["k/1", "k/1", "k/2"].map((pod) =>
    requestSlot(admission, attachRequest({ pod, namespace: "kube-system", networks: ["x"] })),
  );
  const z = requestSlot(admission, attachRequest({ pod: "a/1", networks: ["z"] }));
  await settle();
  for (const { permit } of y) permit?.[Symbol.dispose]();
  await settle();
  // Critical pods go first, but one of the two slots is kept for a pod that does not use their network.
  expect([...x, z].map(({ permit }) => permit !== undefined)).toEqual([false, true, false, true]);
  for (const { permit } of [...x, z]) permit?.[Symbol.dispose]();
  await settle();
  expect(x[2]?.permit).toBeDefined();
  x[2]?.permit?.[Symbol.dispose]();
  await clock.advance(1_000);
  expect(clock.timers).toBe(0);
});

test("admit serves critical pods first, and one of them beyond the limit though not the ceiling", async () => {
  const { admission } = node({ attachCeiling: 4 });
  const ordinary = Array.from({ length: 6 }, (_, pod) => requestSlot(admission, attachRequest({ pod: `a/${pod}` })));
  const critical = ["k/1", "k/2"].map((pod) =>
    requestSlot(admission, attachRequest({ pod, namespace: "kube-system" })),
  );
  await settle();
  expect(admission.facts()).toMatchObject({ limit: 2, attaching: 3 });
  expect(critical.map(({ permit }) => permit !== undefined)).toEqual([true, false]);
  ordinary[0]?.permit?.[Symbol.dispose]();
  await settle();
  expect(critical[1]?.permit).toBeDefined();
});

test("prioritize moves a waiting ADD up once its pod's priority is known", async () => {
  const { admission, rulings } = node(one);
  const first = requestSlot(admission, attachRequest({ pod: "a/0" }));
  requestSlot(admission, attachRequest({ pod: "a/1" }));
  const important = requestSlot(admission, attachRequest({ pod: "a/2", priority: undefined }));
  admission.prioritize("a/2", 10);
  expect(admission.why("a/2")).toMatchObject({ admissionClass: "ordinary", ahead: 1 });
  admission.prioritize("a/2", 2_000_001_000);
  expect(admission.why("a/2")).toMatchObject({ admissionClass: "critical", ahead: 0, blocker: { why: "slots" } });
  expect(rulings.at(-1)?.what).toBe("upgraded");
  await settle();
  first.permit?.[Symbol.dispose]();
  await settle();
  expect(important.permit).toBeDefined();
});

test("admit answers a pod that failed by its own configuration from memory until that changes", async () => {
  const { admission, clock } = node();
  const request = attachRequest({ wants: () => "networks: nowhere" });
  for (const waitMs of [10_000, 20_000, 0]) {
    admission.charge(request, { cause: "own", reason: "no network nowhere" });
    await clock.advance(waitMs);
  }
  const held = requestSlot(admission, request);
  await settle();
  expect((held.error as LeveeError).cniCode).toBe(11);
  expect(held.error?.message).toMatch(/^Cannot attach yet: failed 3 times in a row, next try in \d+.*last: no network/);
  expect(() => admission.refuseHeld(request)).toThrow("no network nowhere");
  expect(admission.failuresOf(request.pod)).toMatchObject({ failures: 3, failure: { cause: "own" } });
  expect(admission.failuresOf(request.pod)?.nextTryMs).toBeWithin(20_000, 40_001);
  expect(admission.failuresOf("a/2")).toBeUndefined();
  expect(() => admission.refuseHeld(detachRequest({ wants: request.wants }))).not.toThrow();
  const critical = requestSlot(admission, { ...request, priority: 2_000_000_000 });
  const changed = requestSlot(admission, { ...request, wants: () => "networks: somewhere" });
  await settle();
  expect([critical.permit?.admissionClass, changed.permit?.admissionClass]).toEqual(["critical", "ordinary"]);
});

test("admit puts a pod over its retry budget into the penalty class when its hold is over", async () => {
  const { admission, clock } = node();
  const request = attachRequest();
  for (let failure = 0; failure < 3; failure += 1) admission.charge(request, { cause: "other", reason: "odd" });
  await clock.advance(60_000);
  const asked = requestSlot(admission, request);
  await settle();
  expect(asked.permit?.admissionClass).toBe("penalty");
});

test("observe freezes the limit at 85 % of the daemon's memory and leaves only DEL at 95 %", async () => {
  const { admission, clock } = node();
  const memory = (percent: number): void =>
    admission.observe({ ownMemory: { limitBytes: 100, usageBytes: percent, oomKills: 0 }, pressure: {} });
  memory(86);
  const first = requestSlot(admission, attachRequest({ pod: "a/0" }));
  const second = requestSlot(admission, attachRequest({ pod: "a/1" }));
  await settle();
  for (let run = 0; run < 20; run += 1) first.permit?.ran(okRun());
  expect(admission.facts()).toMatchObject({ limit: 2, ownMemory: "frozen" });
  const waiting = requestSlot(admission, attachRequest({ pod: "a/2" }));
  memory(96);
  first.permit?.[Symbol.dispose]();
  second.permit?.[Symbol.dispose]();
  const refused = requestSlot(admission, attachRequest({ pod: "a/3" }));
  const critical = requestSlot(admission, attachRequest({ pod: "k/1", namespace: "kube-system" }));
  const del = requestSlot(admission, detachRequest());
  await clock.advance(1_000);
  expect(refused.error?.message).toContain("own memory");
  expect([waiting.permit, critical.permit, del.permit].map((permit) => permit !== undefined)).toEqual([
    false,
    false,
    true,
  ]);
  expect(admission.why("a/2")?.blocker).toEqual({ why: "own-memory" });
  memory(50);
  await settle();
  expect([waiting.permit, critical.permit].map((permit) => permit !== undefined)).toEqual([true, true]);
});

test("admit turns away the newest of the longest line when there is no room, not the namespace that has none", async () => {
  const { admission } = node({ ...one, waitingMax: 4 });
  requestSlot(admission, attachRequest({ pod: "a/0" }));
  const flood = Array.from({ length: 4 }, (_, pod) => requestSlot(admission, attachRequest({ pod: `a/${pod + 1}` })));
  const another = requestSlot(admission, attachRequest({ pod: "b/1", namespace: "b" }));
  await settle();
  expect(flood.map(({ error }) => error?.message)).toEqual([
    undefined,
    undefined,
    undefined,
    "Cannot attach now: the line is full, 4 calls wait already; the runtime retries",
  ]);
  expect(another.error).toBeUndefined();
  const more = requestSlot(admission, attachRequest({ pod: "a/9" }));
  await settle();
  expect(more.error?.message).toContain("the line is full");
  expect(admission.facts().flows).toEqual([
    { namespace: "a", waiting: 3 },
    { namespace: "b", waiting: 1 },
  ]);
});

test("facts has namespaces with lines of one length in one order, whatever the language of the machine", async () => {
  const { admission } = node(one);
  for (const namespace of ["running", "a", "B"])
    requestSlot(admission, attachRequest({ pod: `${namespace}/0`, namespace }));
  await settle();
  expect(admission.facts().flows.map(({ namespace }) => namespace)).toEqual(["B", "a"]);
});

test("admit keeps plugins to half of what the runtime's cgroup has free", async () => {
  const { admission } = node({ attachCeiling: 8 });
  const first = requestSlot(admission, attachRequest({ pod: "a/0" }));
  const second = requestSlot(admission, attachRequest({ pod: "a/1" }));
  await settle();
  // 40 MiB each, and half of the free part of 200 MiB: two fit, the third does not.
  const cgroup = { limitBytes: 200 * mib, usageBytes: 96 * mib };
  for (let run = 0; run < 3; run += 1) first.permit?.ran(okRun({ peakBytes: 40 * mib, cgroup }));
  expect(admission.facts().limit).toBeGreaterThan(3);
  const third = requestSlot(admission, attachRequest({ pod: "a/2" }));
  await settle();
  expect(third.permit).toBeUndefined();
  expect(admission.why("a/2")?.blocker).toEqual({ why: "delegate-memory" });
  first.permit?.[Symbol.dispose]();
  second.permit?.[Symbol.dispose]();
  await settle();
  expect(third.permit).toBeDefined();
});
