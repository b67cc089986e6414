import { expect, test } from "bun:test";
import { decisionPolicy } from "../approve/decision-author.ts";
import { installedPolicies, otherwise } from "../approve/policies.fixture.ts";
import { approvalPolicy, type PolicyObject } from "../approve/policy-standing.ts";
import type { Decision, DecisionApproval, DecisionStatus, Verdict } from "../decision/decision.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import { outage } from "../outage.fixture.ts";
import { minuteMs, nowMs, outagePods, world } from "../world.fixture.ts";
import { isCausePresent } from "./cause-present.ts";
import { changedAt, nextStatus, type PhaseFacts } from "./next-status.ts";
import { propose } from "./propose.ts";

const [stop, recover] = propose(outage(), defaultGuardSettings);
const policies = installedPolicies("2026-05-01T00:00:00Z");
/** One of the policies was created a minute ago. */
function younger(name: string): readonly PolicyObject[] {
  const times = installedPolicies(time(-minuteMs));
  return otherwise(policies, { name }, ({ kind }) =>
    times.find((one) => one.kind === kind && one.metadata.name === name),
  );
}

const leader = { identity: "guard-a", fence: 7 };

function decision(status?: Partial<DecisionStatus>, proposal = recover!): Decision {
  const base: DecisionStatus = {
    phase: "Proposed",
    message: "",
    fence: 7,
    leader: "guard-a",
    since: time(-60 * minuteMs),
  };
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name: proposal.name, namespace: "levee-system", uid: "uid-1", creationTimestamp: time(-60 * minuteMs) },
    spec: proposal.spec,
    ...(status === undefined ? {} : { status: { ...base, ...status } }),
  };
}

/** A person's word, this long after now; negative for before. */
function word(verdict: Verdict, afterMs: number, changes: Partial<DecisionApproval["spec"]> = {}): DecisionApproval {
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "DecisionApproval",
    metadata: { name: `${verdict}-${afterMs}`, namespace: "levee-system", creationTimestamp: time(afterMs) },
    spec: {
      decision: recover!.name,
      decisionUID: "uid-1",
      planHash: recover!.spec.planHash,
      verdict,
      by: { username: "alice" },
      ...changes,
    },
  };
}

/** With this resourceVersion, whatever the API server's clock says. */
function counted(one: DecisionApproval, resourceVersion: number): DecisionApproval {
  return { ...one, metadata: { ...one.metadata, resourceVersion: String(resourceVersion) } };
}

function time(afterMs: number): string {
  return new Date(nowMs + afterMs).toISOString();
}

/** The next phase, or "-" for none. */
function next(
  status: Partial<DecisionStatus> | undefined,
  approvals: readonly DecisionApproval[],
  facts: Partial<PhaseFacts> = {},
): string {
  const status1 = nextStatus({
    decision: decision(status),
    approvals,
    policies,
    isCausePresent: true,
    nowMs,
    leader,
    ...facts,
  });
  return status1 === undefined ? "-" : `${status1.phase}: ${status1.message}`;
}

const approve = word("Approve", -minuteMs);
const approved = {
  phase: "Approved",
  approval: { name: approve.metadata.name, by: "alice", at: time(-minuteMs) },
} as const;
const running = { ...approved, phase: "Running", startedAt: time(-minuteMs) } as const;

test("nextStatus gives a new Decision its first status, with who wrote it", () => {
  expect(nextStatus({ decision: decision(), approvals: [], policies, isCausePresent: true, nowMs, leader })).toEqual({
    phase: "Proposed",
    message: "Waits for a person",
    since: "2026-05-10T19:00:00Z",
    fence: 7,
    leader: "guard-a",
    audit: [{ at: "2026-05-10T19:00:00Z", leader: "guard-a", what: "Proposed: Waits for a person" }],
  });
});

test("nextStatus leaves a proposal alone while its cause lives and no word comes", () => {
  expect(next({}, [])).toBe("-");
  expect(next({}, [], { isCausePresent: false })).toBe("Expired: Its cause is gone");
});

test("nextStatus takes an approval and names its author", () => {
  const status = nextStatus({
    decision: decision({}),
    approvals: [approve],
    policies,
    isCausePresent: true,
    nowMs,
    leader,
  });
  expect(status).toMatchObject({ phase: "Approved", approval: { name: "Approve--60000", by: "alice" } });
});

for (const [what, approval, facts] of [
  ["for another hash", word("Approve", -minuteMs, { planHash: `sha256:${"0".repeat(64)}` }), {}],
  ["for an earlier Decision of the name", word("Approve", -minuteMs, { decisionUID: "uid-0" }), {}],
  ["for another Decision", word("Approve", -minuteMs, { decision: "other" }), {}],
  [
    "by the guard's account",
    word("Approve", -minuteMs, { by: { username: "system:serviceaccount:levee-system:levee-guard" } }),
    {},
  ],
  ["made 16 minutes ago", word("Approve", -16 * minuteMs), {}],
  ["made while the policy was absent", approve, { policies: younger(approvalPolicy) }],
  ["without policies", approve, { policies: [] }],
] as const) {
  test(`nextStatus does not take an approval ${what}, and says so once`, () => {
    const message = next({ message: "Waits" }, [approval], facts);
    if (what === "for another Decision") {
      expect(message).toBe("-");
      return;
    }
    expect(message).toMatch(/^Proposed: Waits — but Approve of \S+ \(Approve-\S+\) does not count: ./u);
    expect(next({ message: message.slice("Proposed: ".length) }, [approval], facts)).toBe("-");
  });
}

test("nextStatus says that a paused or resumed proposal needs a new approval, and accepts one", () => {
  const pause = word("Pause", -50_000);
  const resume = word("Resume", -40_000);
  const note = "it needs a new approval";
  expect(next({ message: "Waits" }, [approve, pause])).toBe(
    `Proposed: Waits — but after Pause of alice (Pause--50000) ${note}`,
  );
  const told = next({ message: "Waits" }, [approve, pause, resume]);
  expect(told).toBe(`Proposed: Waits — but after Resume of alice (Resume--40000) ${note}`);
  expect(next({ message: told.slice("Proposed: ".length) }, [approve, pause, resume])).toBe("-");
  expect(next({}, [approve, pause, resume, word("Approve", -30_000)])).toStartWith("Approved: alice approved it");
});

test("nextStatus says that a resume after a withdrawn approval needs a new one", () => {
  const paused = { ...running, phase: "Paused", message: "Its check failed", since: time(-minuteMs) } as const;
  const resume = word("Resume", 0);
  expect(next(paused, [resume])).toBe(
    "Paused: Its check failed — but after Resume of alice (Resume-0) it needs a new approval",
  );
  expect(next(paused, [word("Pause", 0)])).toBe("-");
  expect(next(paused, [resume, word("Approve", 1_000)])).toStartWith("Running: alice resumed it");
});

test("nextStatus removes the note about a word that does not count, once it is gone or another word counts", () => {
  const told = { message: "Waits — but Approve of alice (x) does not count: it is for another plan" };
  expect(next(told, [])).toBe("Proposed: Waits");
  expect(next(told, [approve])).toStartWith("Approved: alice approved it");
  const status = nextStatus({
    decision: decision({ ...told, since: time(-9 * minuteMs) }),
    approvals: [],
    policies,
    isCausePresent: true,
    nowMs,
    leader,
  });
  expect(status?.since).toBe(time(-9 * minuteMs));
});

test("nextStatus names the word after a pause that does not count", () => {
  const paused = { ...running, phase: "Paused", message: "Its check failed", since: time(-minuteMs) } as const;
  const stray = word("Resume", 0, { planHash: `sha256:${"0".repeat(64)}` });
  expect(next(paused, [approve, stray])).toStartWith("Paused: Its check failed — but Resume of alice");
  expect(
    next(paused, [approve, { ...stray, metadata: { ...stray.metadata, creationTimestamp: time(-2 * minuteMs) } }]),
  ).toBe("-");
});

test("nextStatus repeats the reason that a person gave, and refuses a word from far ahead", () => {
  expect(next(running, [approve, word("Pause", 0, { reason: "lunch\n\u202e" })])).toBe(
    "Paused: alice paused it: lunch",
  );
  expect(next({ message: "Waits" }, [word("Approve", 10 * minuteMs)])).toContain("from 10 minutes ahead");
});

test("nextStatus ends a Decision of an unknown author, and pauses it when it has started", () => {
  const young = { policies: younger(decisionPolicy) };
  expect(next({}, [approve], young)).toStartWith("Expired: the policy levee-decisions-come-from-the-guard is not 5 s");
  expect(next(running, [approve], young)).toContain("Paused: Its approval does not count any more: the policy");
  // Without the policy nothing counts, and nothing is proposed again.
  const absent = { policies: otherwise(policies, { name: decisionPolicy }, () => undefined) };
  expect(next({ message: "Waits" }, [], absent)).toBe("-");
  expect(next({ message: "Waits" }, [approve], absent)).toContain("so anyone may have created the Decision");
});

test("nextStatus accepts a rejection at any time, also after an approval", () => {
  for (const status of [{}, approved, running, { ...running, phase: "Paused" as const }])
    expect(next(status, [approve, word("Reject", 0)])).toBe("Rejected: alice said no");
});

test("nextStatus lets the last word count, and of two in one second the more careful", () => {
  expect(next({}, [approve, word("Pause", -minuteMs)])).toStartWith("Proposed: ");
  expect(next({}, [word("Pause", -2 * minuteMs), approve])).toStartWith("Approved");
  expect(next(approved, [word("Pause", -2 * minuteMs), approve])).toBe("-");
  expect(next(running, [approve, word("Pause", 0)])).toBe("Paused: alice paused it");
});

test("nextStatus lets an approval lapse that has not begun within 15 minutes, and not one that has", () => {
  const old = word("Approve", -16 * minuteMs);
  const approval = { name: old.metadata.name, by: "alice", at: time(-16 * minuteMs) };
  expect(next({ ...approved, approval }, [old])).toBe(
    "Expired: It did not begin: the approval is 16 minutes old; it must begin within 15",
  );
  expect(next({ ...running, approval }, [old])).toBe("-");
});

test("nextStatus pauses when the approval is withdrawn or its policy is gone", () => {
  expect(next(running, [])).toBe("Paused: Its approval was withdrawn");
  expect(next(approved, [])).toStartWith("Paused");
  expect(next(running, [approve], { policies: [] })).toStartWith("Paused");
});

const successor = { identity: "guard-b", fence: 8, heardMs: nowMs - 20_000 };
const underWay = {
  ...running,
  step: "2/6 RemovePods",
  steps: [{ id: 2, phase: "Running", message: "", at: time(-minuteMs) }],
} as const;

test("nextStatus has the next leader go on with work whose approval stands and whose step may be repeated", () => {
  const facts = { approvals: [approve], policies, isCausePresent: true, nowMs };
  for (const leader of [successor, { ...successor, identity: "guard-a" }]) {
    const status = nextStatus({ ...facts, decision: decision(underWay), leader });
    expect(status).toMatchObject({ phase: "Running", leader: leader.identity, fence: 8, takeovers: 1 });
    expect(status?.message).toBe(
      "The leader changed while it was running (guard-a before); goes on with step 2/6 RemovePods, which looks at everything again",
    );
    expect(status?.audit?.at(-1)).toMatchObject({ leader: leader.identity, what: `Running: ${status?.message}` });
    // It is its own now.
    expect(nextStatus({ ...facts, decision: decision(status), leader })).toBeUndefined();
  }
  expect(next(approved, [approve], { leader: successor })).toBe("-");
});

for (const [what, status, facts, why] of [
  ["nobody led for long", {}, { heardMs: nowMs - 16 * minuteMs }, "nobody has led for 16 minutes"],
  ["the Lease was deleted", {}, { heardMs: 0 }, "it is not known since when nobody has led"],
  ["it was taken over again and again", { takeovers: 5 }, {}, "it was taken over 5 times since a person's last word"],
] as const) {
  test(`nextStatus pauses what another leader was running when ${what}`, () => {
    expect(next({ ...underWay, ...status }, [approve], { leader: { ...successor, ...facts } })).toBe(
      `Paused: The leader changed while it was running (guard-a before), and ${why}; look at what was done, then resume`,
    );
  });
}

test("nextStatus takes over nothing whose approval was withdrawn or paused, or whose policies have changed", () => {
  const facts = { leader: successor };
  expect(next(underWay, [], facts)).toBe("Paused: Its approval was withdrawn");
  expect(next(underWay, [approve, word("Pause", 0)], facts)).toBe("Paused: alice paused it");
  expect(next(underWay, [approve, word("Reject", 0)], facts)).toBe("Rejected: alice said no");
  expect(next(underWay, [approve], { ...facts, policies: [] })).toStartWith("Paused: Its approval does not count");
});

test("nextStatus counts takeovers from the last word of a person", () => {
  const paused = { ...underWay, phase: "Paused", takeovers: 5, since: time(-minuteMs / 2) } as const;
  const facts = { policies, isCausePresent: true, nowMs, leader };
  const resumed = nextStatus({ ...facts, decision: decision(paused), approvals: [approve, word("Resume", 0)] });
  expect(resumed).toMatchObject({ phase: "Running", takeovers: 0 });
});

test("nextStatus has a new leader mark an open proposal as its own, once", () => {
  const facts = { approvals: [], policies, isCausePresent: true, nowMs };
  const status = nextStatus({ ...facts, decision: decision({ message: "Waits" }), leader: successor });
  expect(status).toMatchObject({ phase: "Proposed", message: "Waits", leader: "guard-b", fence: 8 });
  expect(nextStatus({ ...facts, decision: decision(status), leader: successor })).toBeUndefined();
});

test("nextStatus tells how a plan changed, and whose approval of the earlier one does not count", () => {
  const revisions = [{ at: "2026-05-10T18:59:00Z", planHash: `sha256:${"0".repeat(64)}`, change: "25 more pods" }];
  const revised = { ...decision({ message: "Waits for a person" }), spec: { ...recover!.spec, revisions } };
  const waits = "Proposed: Waits for a person; its plan changed at 2026-05-10T18:59:00Z: 25 more pods";
  expect(next({}, [], { decision: revised })).toBe(waits);
  const early = word("Approve", -minuteMs, { planHash: revisions[0]!.planHash });
  const told = next({}, [early], { decision: revised });
  expect(told).toBe(
    `${waits} — but Approve of alice (Approve--60000) does not count: it is for the plan before 2026-05-10T18:59:00Z, which has changed since (25 more pods): read the new one and approve that`,
  );
  expect(next({}, [early, word("Approve", 0)], { decision: revised })).toStartWith("Approved: alice approved it");
});

test("nextStatus ends a proposal that an older one about the same cause replaces", () => {
  expect(next({}, [], { supersededBy: "recover-fc-desktop-1" })).toBe(
    "Superseded: recover-fc-desktop-1 is about the same cause and follows it",
  );
  expect(next(running, [approve], { supersededBy: "recover-fc-desktop-1" })).toBe("-");
});

test("nextStatus keeps the record of its phases", () => {
  const facts = { policies, isCausePresent: true, nowMs, leader };
  const first = nextStatus({ ...facts, decision: decision(), approvals: [] });
  const then = nextStatus({ ...facts, decision: decision(first), approvals: [approve] });
  expect(then?.audit?.map(({ what }) => what.split(":")[0])).toEqual(["Proposed", "Approved"]);
});

test("nextStatus resumes only by a word after the pause, with an approval that stands", () => {
  const paused = { ...running, phase: "Paused", since: time(-minuteMs / 2) } as const;
  expect(next(paused, [approve])).toBe("-");
  expect(next(paused, [approve, word("Resume", -minuteMs)])).toBe("-");
  expect(next(paused, [approve, word("Resume", 0)])).toBe("Running: alice resumed it");
  expect(next(paused, [word("Resume", 0)])).toStartWith("Paused: ");
  expect(next(paused, [word("Approve", 0)])).toBe("Running: alice resumed it");
  expect(next({ ...paused, startedAt: undefined as never }, [approve, word("Resume", 0)])).toBe(
    "Approved: alice resumed it",
  );
});

test("nextStatus resumes once by one word, also when the API server's clock is ahead of ours", () => {
  const ahead = word("Resume", 50_000);
  const facts = { approvals: [approve, ahead], policies, isCausePresent: true, nowMs, leader };
  const paused = decision({ ...running, phase: "Paused", since: time(-minuteMs / 2) });
  const resumed = nextStatus({ ...facts, decision: paused })!;
  expect(resumed).toMatchObject({ phase: "Running", since: "2026-05-10T19:00:51Z" });
  // Ten seconds later its check fails.
  const since = changedAt(nowMs + 10_000, resumed.since);
  expect(next({ ...resumed, phase: "Paused", since }, [approve, ahead], { nowMs: nowMs + 20_000 })).toBe("-");
  expect(next({ ...resumed, phase: "Paused", since }, [approve, word("Resume", 55_000)])).toStartWith("Running");
  // A clock that was set back too far has no say.
  expect(changedAt(nowMs, time(3_600_000))).toBe("2026-05-10T19:00:00Z");
});

test("nextStatus ends a Decision whose plan was tampered with", () => {
  const forged = decision({});
  const spec = { ...forged.spec, planHash: `sha256:${"0".repeat(64)}` };
  expect(next({}, [], { decision: { ...forged, spec } })).toBe("Failed: Its plan is not the one it was hashed from");
});

for (const phase of ["Succeeded", "Failed", "Expired", "Rejected", "Superseded"] as const) {
  test(`nextStatus never changes what is ${phase}`, () => {
    expect(next({ phase }, [approve, word("Reject", 0)], { isCausePresent: false })).toBe("-");
  });
}

test("isCausePresent counts an approved recovery's own targets and the shape of a stop", () => {
  const pods = [...outage().pods];
  const [halted, recovering] = [decision({}, stop), decision(approved, recover)];
  expect([halted, recovering].map((one) => isCausePresent(one, world({ pods }), defaultGuardSettings))).toEqual([
    true,
    true,
  ]);
  const others = outagePods(30).map((pod) => ({ ...pod, uid: `new-${pod.uid}` }));
  expect([halted, recovering].map((one) => isCausePresent(one, world({ pods: others }), defaultGuardSettings))).toEqual(
    [true, false],
  );
  const started = pods.map((pod) => ({ ...pod, phase: "Running", everRan: true }));
  expect(
    [halted, recovering].map((one) => isCausePresent(one, world({ pods: started }), defaultGuardSettings)),
  ).toEqual([false, false]);
});

test("a pause from an API server with a slow clock counts, and only a word later by version and time ends it", () => {
  const begun = counted(approve, 10);
  const pause = counted(word("Pause", -2 * minuteMs), 11);
  expect(next(running, [begun, pause])).toBe("Paused: alice paused it");
  expect(next(running, [counted(approve, 12), counted(pause, 11)])).toBe("-");
  expect(next(running, [begun, pause, counted(word("Resume", 0), 13)])).toBe("-");
  const paused = { ...running, phase: "Paused", message: "alice paused it", since: time(-minuteMs / 2) } as const;
  expect(next(paused, [begun, pause])).toBe("-");
  expect(next(paused, [begun, pause, counted(word("Resume", 0), 13)])).toStartWith("Running: alice resumed it");
  // Within one second the later word counts.
  const now = counted(word("Pause", 0), 12);
  expect(next(paused, [begun, now, counted(word("Resume", 0), 13)])).toStartWith("Running: ");
  expect(next(paused, [begun, counted(now, 14), counted(word("Resume", 0), 13)])).toBe("-");
});

test("a label on an old approval does not end a pause, and a resume that seems older than the pause gets a note", () => {
  const paused = { ...running, phase: "Paused", message: "alice paused it", since: time(-minuteMs / 2) } as const;
  const pause = counted(word("Pause", -minuteMs / 2), 11);
  const note =
    "does not count: its time is before that of the pause, because the clocks of the API servers differ: say it again";
  expect(next(running, [counted(approve, 12), pause])).toBe("Paused: alice paused it");
  expect(next(paused, [counted(approve, 10), pause, counted(word("Resume", -40_000), 12)])).toBe(
    `Paused: alice paused it — but Resume of alice (Resume--40000) ${note}`,
  );
});
