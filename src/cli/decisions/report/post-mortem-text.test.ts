import { expect, test } from "bun:test";
import type { Decision, DecisionApproval } from "../../../guard/decision/decision.ts";
import { Watch } from "../../../guard/decide/lower/calm.fixture.ts";
import { proposeLower } from "../../../guard/decide/lower/propose-lower.ts";
import { propose } from "../../../guard/decide/propose.ts";
import { defaultGuardSettings } from "../../../guard/facts/guard-settings.ts";
import { heldGate, lateReboots, reason } from "../../../guard/by-hand.fixture.ts";
import { multusFile, outage } from "../../../guard/outage.fixture.ts";
import { runawayCronJob } from "../../../guard/runaway.fixture.ts";
import { fakeShell } from "../../fake-shell.fixture.ts";
import { runCli } from "../../main.ts";
import { md } from "./markdown.ts";
import { postMortemText } from "./post-mortem-text.ts";

const sections = [
  "Summary",
  "Timeline",
  "Cause and chain",
  "Decisions and approvals",
  "What was done, step by step",
  "What was left alone",
  "Verification",
  "Numbers",
  "What to do next",
];

const proposals = propose(outage({ gitFiles: [multusFile] }), defaultGuardSettings);

function decision(purpose: "StopSource" | "Recover", status: Partial<Decision["status"]> = {}): Decision {
  const { name, spec } = proposals.find((one) => one.spec.purpose === purpose)!;
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name, namespace: "levee-system", uid: "8d0c", creationTimestamp: "2026-05-10T19:00:03Z" },
    spec,
    status: {
      phase: "Proposed",
      message: "Waits for a person",
      fence: 3,
      leader: "g-1",
      since: "2026-05-10T19:00:04Z",
      ...status,
    },
  };
}

function ended(): Decision {
  const { spec } = decision("Recover");
  return decision("Recover", {
    phase: "Succeeded",
    message: "All checks hold",
    startedAt: "2026-05-10T19:02:11Z",
    endedAt: "2026-05-10T19:17:45Z",
    approval: { name: "recover-x7", by: "alice", at: "2026-05-10T19:01:58Z" },
    steps: spec.steps.map(({ id }) => ({
      id,
      phase: "Done" as const,
      message: "done",
      at: `2026-05-10T19:0${id}:30Z`,
      dryRun: "Passed" as const,
      verified: true,
      ...(spec.steps[id - 1]?.action === "RemovePods"
        ? {
            removed: 214,
            gone: 3,
            leftAlone: ["rd-browser-only-0007 started meanwhile", "rd-9 | [x](http://evil.example) <b>"],
          }
        : {}),
    })),
  });
}

const words: readonly DecisionApproval[] = [
  {
    apiVersion: "levee.dev/v1alpha1",
    kind: "DecisionApproval",
    metadata: { name: "recover-x7", namespace: "levee-system", uid: "77", creationTimestamp: "2026-05-10T19:01:58Z" },
    spec: {
      decision: ended().metadata.name,
      decisionUID: "8d0c",
      planHash: ended().spec.planHash,
      verdict: "Approve",
      reason: "looked at 12 pods # and `they` are | dead",
      by: { username: "alice" },
    },
  },
];

function numbersIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\d+/gu) ?? []);
}

test.each([
  ["a recovery that ended", ended(), words],
  ["a proposal", decision("StopSource"), []],
  [
    "one that was paused half way",
    decision("Recover", { phase: "Paused", message: "The check of step 3 did not hold" }),
    words,
  ],
])(
  "reportText has its sections in order, and no number that the Decision and its approvals lack: %s",
  (_what, one, said) => {
    const text = postMortemText(one, said);
    expect([...text.matchAll(/^## (.*)$/gmu)].map(([, title]) => title)).toEqual(sections);
    const known = numbersIn(JSON.stringify([one, said]));
    expect([...numbersIn(text)].filter((number) => !known.has(number))).toEqual([]);
  },
);

test("reportText tells what was done, what was left alone, and what is left to do", () => {
  const text = postMortemText(ended(), words);
  expect(text).toContain("Removed: 214");
  expect(text).toContain("Already gone: 3");
  expect(text).toContain("alice said Approve");
  expect(text).toContain("Review and merge the branch");
  expect(postMortemText(decision("Recover", { phase: "Rejected", message: "no" }), [])).toContain(
    "Not done by the guard",
  );
});

test("reportText tells of the guard's own pauses, of takeovers and of earlier plans", () => {
  const one = ended();
  const told = (at: string, what: string): object => ({ at, leader: "g-1", what });
  const audit = [
    told("2026-05-10T19:00:04Z", "Proposed: Waits for a person"),
    told("2026-05-10T19:02:11Z", "Running: Carried out as approved by alice"),
    told("2026-05-10T19:03:00Z", "Paused: Step 2/6 RemovePods: the breaker is open: 2000 pods"),
    told("2026-05-10T19:04:00Z", "Running: alice resumed it"),
    told("2026-05-10T19:17:45Z", "Succeeded: All checks hold"),
  ];
  const revisions = [{ at: "2026-05-10T19:01:03Z", planHash: `sha256:${"3".repeat(64)}`, change: "25 more pods" }];
  const spec = { ...one.spec, revisions };
  const early = { ...words[0]!, spec: { ...words[0]!.spec, planHash: revisions[0]!.planHash } };
  const text = postMortemText({ ...one, spec, status: { ...one.status, audit } } as Decision, [...words, early]);
  const rows = text
    .split("\n")
    .filter((row) => /^\| 2026.*\| (?:Paused|Running|The guard changed|The first)/u.test(row));
  expect(rows).toEqual([
    "| 2026-05-10T19:01:03Z | The guard changed the plan: 25 more pods |",
    "| 2026-05-10T19:02:11Z | The first step began |",
    "| 2026-05-10T19:03:00Z | Paused: Step 2/6 RemovePods: the breaker is open: 2000 pods (g-1) |",
    "| 2026-05-10T19:04:00Z | Running: alice resumed it (g-1) |",
  ]);
  expect(text).toContain("| an earlier plan |");
});

test("reportText gives the line that takes the stop back", () => {
  const steps = [{ id: 1, phase: "Done" as const, message: "", at: "2026-05-10T19:02:11Z" }];
  const done = decision("StopSource", { phase: "Succeeded", steps });
  expect(postMortemText(done, [])).toContain("`kubectl label namespace fc-desktop levee.dev/ownerless-pods-`");
});

test("reportText escapes what tenants and persons wrote", () => {
  const text = postMortemText(ended(), words);
  expect(text).toContain("rd-9 \\| \\[x\\](http\\://evil.example) &lt;b\\>");
  expect(text).toContain("\\# and \\`they\\` are \\| dead");
  expect(text).not.toMatch(/(?<!\\)\](?:\(|\[)/u);
});

test("reportText puts a line with backticks into a longer fence", () => {
  const [step] = decision("StopSource").spec.steps;
  const one = decision("StopSource");
  const odd = {
    ...one,
    spec: { ...one.spec, steps: [{ ...step!, kubectl: ["kubectl get ns '```'\n# x"] }] },
  } as Decision;
  expect(postMortemText(odd, [])).toContain("````sh\nkubectl get ns '```' # x\n````\n");
});

test.each([
  ["fc-desktop at 19:02:11Z, 1.5 (x)", "fc-desktop at 19:02:11Z, 1.5 (x)"],
  ["- a", "\\- a"],
  ["1. a", "1\\. a"],
  [
    "Of 219: 210 removed. See apps/multus/multus.yaml, levee_guard_leader - all - 1 + 1!",
    "Of 219: 210 removed. See apps/multus/multus.yaml, levee_guard_leader - all - 1 + 1!",
  ],
  ["https://evil.example", "https\\://evil.example"],
  ["www.evil.example", "www\\.evil.example"],
  ["a@evil.example", "a\\@evil.example"],
  ["--- + #1 _a_ *b*", "\\--- + \\#1 \\_a\\_ \\*b\\*"],
  [":smile: @ops ![x](y)", "\\:smile: \\@ops !\\[x\\](y)"],
  ["a\n# b", "a \\# b"],
  ["\\](x)", "\\\\\\](x)"],
])("md escapes %j as %j", (text, expected) => {
  expect(md(text)).toBe(expected);
});

test("levee report says where a program finds what it tells", async () => {
  const shell = fakeShell({ argv: ["report", "recover-shop-1", "-o", "json"] });
  expect(await runCli(shell)).toBe(2);
  expect(shell.stderr.text).toContain("levee decisions show recover-shop-1 -o json");
  expect(shell.stdout.text).toBe("");
});

test("postMortemText of a lowered limit has the line that goes up again, and of a raised one the way back", () => {
  const [proposal] = proposeLower(new Watch().days(7.2).world(), defaultGuardSettings);
  const lower = { ...ended(), spec: proposal!.spec };
  const text = postMortemText(lower, []);
  expect(text).toContain("go up again: `kubectl -n kube-system set resources daemonset/kube-multus-ds -c kube-multus");
  expect(text).toContain("No kill and no pressure for 600 s with less memory: kube-system/kube-multus-ds");
  const raise = postMortemText(ended(), []);
  expect(raise).toContain("keeps 1Gi until somebody lowers it");
});

test("postMortemText names the Jobs that were suspended with their CronJob, and the lines that let them go on", () => {
  const { spec } = propose(runawayCronJob({}, 24), defaultGuardSettings)[0]!;
  const done = { ...ended(), spec };
  const steps = spec.steps.map(({ id }) => ({
    id,
    phase: "Done" as const,
    message: "done",
    at: "2026-05-10T19:01:30Z",
    ...(id === 1 ? { leftAlone: ["Job tick-001: a pod of it is ready"] } : {}),
  }));
  const text = postMortemText({ ...done, status: { ...done.status!, steps } }, []);
  expect(text).toContain(
    `CronJob shop/tick is still suspended. Repair what made it run away, then set it back: \`kubectl -n shop patch cronjob tick --type=merge -p '{"spec":{"suspend":false}}'\``,
  );
  expect(text).toContain("23 of its Jobs are suspended with it: tick-000, tick-002, tick-003");
  expect(text).toContain(`for name in tick-000 tick-002 tick-003`);
  expect(text).toContain(` and \`for name in tick-021 tick-022 tick-023; do kubectl -n shop patch job "$name"`);
});

test("postMortemText keeps the line at the end of a note as it is to be typed, and names the workload it looked for", () => {
  const { spec } = propose(runawayCronJob({}, 24), defaultGuardSettings)[0]!;
  const text = postMortemText({ ...ended(), spec }, []);
  expect(text).toContain(
    `To undo it when the cause is repaired: \`kubectl -n shop patch cronjob tick --type=merge -p '{"spec":{"suspend":false}}'\``,
  );
  expect(text).toContain("No more than 19 pods of CronJob/tick are Pending in shop");
  expect(text).not.toContain("\n\n\n");
});

test("postMortemText of a reboot backlog names the nodes, what blocked each since when, and how it was cleared", () => {
  const orphaned = reason({
    code: "KuredLockOrphaned",
    object: "DaemonSet/kube-system/kured",
    message: "a lock of old-1",
  });
  const gates = [heldGate("k8s-master", { reasons: [reason(), orphaned] }), heldGate("k8s-node2")];
  const [proposal] = propose(lateReboots(gates), defaultGuardSettings);
  const text = postMortemText({ ...ended(), spec: proposal!.spec }, []);
  expect([...text.matchAll(/^## (.*)$/gmu)].map(([, title]) => title)).toEqual(sections);
  expect(text).toContain("| **Affected** | nodes that wait for a reboot: k8s-master, k8s-node2 |");
  expect(text).toContain("| 2026-05-09T13:00:00Z | KuredLockOrphaned: a lock of old-1 (DaemonSet/kube-system/kured) |");
  expect(text).toContain(
    [
      "since 2026-05-09T13:00:00Z: FiringAlert: the alert NodeFilesystemFull fires (2 nodes) (Alert/NodeFilesystemFull)",
      "since 2026-05-09T13:00:00Z: KuredLockOrphaned: a lock of old-1 (DaemonSet/kube-system/kured)",
      "→ the reboot gate denies, and everything that asks it waits",
      "→ k8s-master, k8s-node2 cannot be rebooted, and run what the updates were to replace",
    ].join("\n"),
  );
  expect(text).toContain("free the disk, or levee gate except");
});
