/** Decisions and their approvals on a real API server: who may say what, and what cannot be taken back. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DecisionApproval } from "../../src/guard/decision/decision.ts";
import { fullDecision, fullStatus } from "../guard/full-decision.ts";
import { policySinceMs, policyProblems, type PolicyObject } from "../../src/guard/approve/policy-standing.ts";
import { shippedPolicies } from "../../src/guard/approve/shipped-policies.ts";
import { alice, approvals, decisions, dry, guardUser, startGuardServer, untilAnswer } from "./guard/guard-server.ts";
import { mergePatch, type Answer, type Ask, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";

const { group, beforeAll, afterAll } = needsServer("guard-approval");

const policy = "levee-approval-names-its-author";
const hash = fullDecision("q").spec.planHash;
const bob = { user: "bob", group: "dev" };
const guard = { user: guardUser };
const account = { user: "system:serviceaccount:fc:operator" };

interface Meta {
  readonly uid: string;
  readonly creationTimestamp: string;
  readonly generation: number;
}

function metaOf(text: string): Meta {
  return (JSON.parse(text) as { metadata: Meta }).metadata; // what the API server prints
}

function approval(name: string, spec: object = {}): object {
  const said = { decision: "q", decisionUID: "u", planHash: hash, verdict: "Approve", by: { username: "alice" } };
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "DecisionApproval",
    metadata: { name, namespace: "levee-system" },
    spec: { ...said, ...spec },
  };
}

function create(body: object, as: Ask["as"]): Ask {
  return { method: "POST", path: approvals, body, ...(as === undefined ? {} : { as }) };
}

let server: PolicyServer;

beforeAll(async () => {
  server = await startGuardServer();
  // With these roles for bob and the guard, only the policy stands between them and an approval.
  server.must(["create", "clusterrole", "makes", "--verb=create,get", "--resource=decisionapprovals.levee.dev"]);
  server.must(["create", "clusterrole", "says", "--verb=approve,get", "--resource=decisions.levee.dev"]);
  const accounts = [
    ...["--serviceaccount=levee-system:levee-guard", "--group=system:nodes", "--user=system:anonymous"],
    ...["--user=system:kube-controller-manager", `--user=${account.user}`, "--group=system:bootstrappers"],
  ];
  server.must(["create", "clusterrolebinding", "makes", "--clusterrole=makes", "--group=dev", ...accounts]);
  server.must(["create", "clusterrolebinding", "says", "--clusterrole=says", ...accounts]);
  await untilPolicyWorks();
}, 120_000);

afterAll(() => server.stop());

/** Bob may make approvals, so it is the policy that refuses. */
async function untilPolicyWorks(): Promise<void> {
  const probe = dry(create(approval("probe"), bob));
  await untilAnswer(server, probe, ({ code, text }) => code === 403 && text.includes(policy));
}

function patch(path: string, body: object, as?: Ask["as"]): Promise<Answer> {
  return server.ask({ method: "PATCH", path, body, type: mergePatch, ...(as === undefined ? {} : { as }) });
}

/** As the guard does. */
async function propose(name: string): Promise<void> {
  const strict = `${decisions}?fieldValidation=Strict`;
  const answer = await server.ask({ method: "POST", path: strict, body: fullDecision(name), as: guard });
  expect(answer).toMatchObject({ code: 201 });
}

function status(name: string, body: object | null): Promise<Answer> {
  return patch(`${decisions}/${name}/status?fieldValidation=Strict`, { status: body }, guard);
}

/** The whole object sent back with another status, by the administrator. */
async function putStatus(name: string, next: object | undefined): Promise<Answer> {
  const { text } = await server.ask({ method: "GET", path: `${decisions}/${name}` });
  const found = JSON.parse(text) as object; // what the API server prints
  return server.ask({ method: "PUT", path: `${decisions}/${name}/status`, body: { ...found, status: next } });
}

group("DecisionApproval", () => {
  test("who may approve says so in their own name, with their groups or without", async () => {
    expect(await server.ask(create(approval("plain"), alice))).toMatchObject({ code: 201 });
    const admin = { user: "system:admin", group: "system:masters" };
    const first = approval("first", { by: { username: "system:admin" } });
    expect(await server.ask(create(first, admin))).toMatchObject({ code: 201 });
    const groups = ["sre", "system:authenticated"];
    const by = { username: "alice", groups, credentialID: "X509SHA256=1" };
    const full = approval("full", { verdict: "Pause", reason: "why", by });
    expect(await server.ask(create(full, { ...alice, credential: "X509SHA256=1" }))).toMatchObject({ code: 201 });
  });

  test.each([
    ["in another's name", approval("x", { by: { username: "bob" } }), alice, "spec.by.username must be alice"],
    ["with groups they are not in", approval("x", { by: { username: "alice", groups: ["root"] } }), alice, "groups"],
    [
      "with a credential that is not theirs",
      approval("x", { by: { username: "alice", credentialID: "c" } }),
      alice,
      "credentialID",
    ],
    ["without the verb approve", approval("x", { by: { username: "bob" } }), bob, "lacks the verb approve"],
    ["as a workload", approval("x", { by: { username: account.user } }), account, "a person approves"],
    [
      "as a node",
      approval("x", { by: { username: "system:node:a" } }),
      { user: "system:node:a", group: "system:nodes" },
      "a person approves",
    ],
    [
      "as nobody",
      approval("x", { by: { username: "system:anonymous" } }),
      { user: "system:anonymous" },
      "a person approves",
    ],
    [
      "as a part of Kubernetes",
      approval("x", { by: { username: "system:kube-controller-manager" } }),
      { user: "system:kube-controller-manager" },
      "a person approves",
    ],
    [
      "as a node that joins",
      approval("x", { by: { username: "joins" } }),
      { user: "joins", group: "system:bootstrappers" },
      "a person approves",
    ],
  ])("the policy refuses an approval %s", async (_what, body, as, words) => {
    const answer = await server.ask(create(body, as));
    expect(answer.code).toBe(403);
    expect(answer.text).toContain(policy);
    expect(answer.text).toContain(words);
  });
});

group("DecisionApproval for people and roles", () => {
  test("the lines of docs/guard.md approve, with kubectl alone", async () => {
    await propose("by-hand");
    const page = readFileSync(join(import.meta.dir, "../../docs/guard.md"), "utf8");
    const lines = /```sh\n(DECISION=NAME[^`]+)```/u.exec(page)?.[1] ?? "";
    const kubeconfig = await server.kubeconfig();
    const config = JSON.parse(readFileSync(kubeconfig, "utf8")) as { users: { user: object }[] }; // written by us
    config.users[0]!.user = { ...config.users[0]?.user, "as": alice.user, "as-groups": [alice.group] };
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    const env = { PATH: process.env["PATH"], HOME: dirname(kubeconfig), KUBECONFIG: kubeconfig };
    const input = lines.replace("NAME", "by-hand");
    const { stdout, stderr } = spawnSync("bash", ["-eu", "-o", "pipefail"], { input, env, encoding: "utf8" });
    expect([stderr, stdout]).toEqual(["", expect.stringContaining("created") as string]);
    const [, name = ""] = /decisionapproval.levee.dev\/(\S+) created/u.exec(stdout) ?? [];
    const { text } = await server.ask({ method: "GET", path: `${approvals}/${name}` });
    const made = JSON.parse(text) as DecisionApproval; // what the API server prints
    const { text: asked } = await server.ask({ method: "GET", path: `${decisions}/by-hand` });
    expect(made.spec).toEqual({
      ...{ decision: "by-hand", decisionUID: metaOf(asked).uid, planHash: hash, verdict: "Approve" },
      by: { username: "alice" },
    });
  });

  test("the guard's own role lets it make none at all", async () => {
    server.must(["delete", "clusterrolebinding", "makes"]);
    const refused = ({ text }: Answer): boolean => text.includes("cannot create resource");
    await untilAnswer(server, dry(create(approval("x", { by: { username: guardUser } }), guard)), refused);
    server.must(["create", "clusterrolebinding", "makes", "--clusterrole=makes", "--group=dev"]);
    await untilPolicyWorks();
  });

  test("the verb can be given for one Decision", async () => {
    const role = ["--verb=approve", "--resource=decisions.levee.dev", "--resource-name=only"];
    server.must(["create", "clusterrole", "one", ...role]);
    server.must(["create", "clusterrolebinding", "one", "--clusterrole=one", "--user=bob"]);
    const by = { username: "bob" };
    const one = dry(create(approval("one", { decision: "only", by }), bob));
    await untilAnswer(server, one, ({ code }) => code === 201);
    expect(await server.ask(dry(create(approval("one", { by }), bob)))).toMatchObject({ code: 403 });
  });

  test.each([
    ["another verdict", { verdict: "Maybe" }],
    ["no hash", { planHash: "sha256:1" }],
    ["no UID", { decisionUID: "" }],
  ])("%s is refused", async (_what, spec) => {
    expect(await server.ask(create(approval("x", spec), alice))).toMatchObject({ code: 422 });
  });

  test("what was said is never changed, and the collector may take a finalizer away", async () => {
    expect(await server.ask(create(approval("fixed"), alice))).toMatchObject({ code: 201 });
    const change = (body: object, as: Ask["as"]): Promise<Answer> => patch(`${approvals}/fixed`, body, as);
    expect(await change({ spec: { verdict: "Reject" } }, alice)).toMatchObject({ code: 403 });
    expect((await change({ spec: { verdict: "Reject" } }, undefined)).text).toContain("an approval never changes");
    expect(await change({ metadata: { finalizers: ["example.com/stay"] } }, undefined)).toMatchObject({ code: 200 });
    const collector = { user: "system:serviceaccount:kube-system:generic-garbage-collector" };
    expect(await change({ metadata: { finalizers: null } }, collector)).toMatchObject({ code: 200 });
    const withdrawn = await server.ask({ method: "DELETE", path: `${approvals}/fixed`, as: alice });
    expect(withdrawn).toMatchObject({ code: 200 });
  });
});

group("DecisionApproval and its policy", () => {
  test("forged while the binding is absent, it has the same second as the binding that is put back", async () => {
    const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings`;
    const { metadata, ...rest } = JSON.parse((await server.ask({ method: "GET", path: `${path}/${policy}` })).text) as {
      metadata: { name: string; labels?: object; annotations?: object };
    };
    const { name, labels = {}, annotations = {} } = metadata;
    const body = { ...rest, metadata: { name, labels, annotations } };
    const forged: string[] = [];
    const bindings: string[] = [];
    for (let round = 0; round < 8 && !forged.some((second) => bindings.includes(second)); round += 1) {
      expect(await server.ask({ method: "DELETE", path: `${path}/${policy}` })).toMatchObject({ code: 200 });
      const forge = create(approval(`forged-${round}`), bob);
      const { text } = await untilAnswer(server, forge, ({ code }) => code === 201);
      // Without kubectl, which takes more than a second on a busy machine.
      const put = await server.ask({ method: "POST", path, body });
      expect(put).toMatchObject({ code: 201 });
      forged.push(metaOf(text).creationTimestamp);
      bindings.push(metaOf(put.text).creationTimestamp);
      // The guard wants five seconds between the two.
      expect(Date.parse(forged[round] ?? "") - Date.parse(bindings[round] ?? "")).toBeLessThan(5_000);
      await untilPolicyWorks();
    }
    expect(forged.some((second) => bindings.includes(second))).toBe(true);
  });

  test("all policies are as shipped once they are in the cluster, by their hashes", async () => {
    const group = "/apis/admissionregistration.k8s.io/v1";
    const found: PolicyObject[] = [];
    for (const kind of ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"] as const) {
      const plural = kind.endsWith("Binding") ? "validatingadmissionpolicybindings" : "validatingadmissionpolicies";
      const { text } = await server.ask({ method: "GET", path: `${group}/${plural}` });
      // What the API server prints; in a list objects do not say their kind.
      const { items } = JSON.parse(text) as { items: readonly Omit<PolicyObject, "kind">[] };
      found.push(...items.map((item) => ({ ...item, kind })));
    }
    const names = shippedPolicies.map(({ name }) => name);
    expect(policyProblems(found, names)).toEqual([]);
    expect(Date.now() - policySinceMs(found, policy)).toBeLessThan(600_000);
  });

  test("a policy that was changed and put back is as old as before, and its generation tells", async () => {
    const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/${policy}`;
    const before = metaOf((await server.ask({ method: "GET", path })).text);
    for (const validationActions of [["Audit"], ["Deny"]])
      expect(await patch(path, { spec: { validationActions } })).toMatchObject({ code: 200 });
    const after = metaOf((await server.ask({ method: "GET", path })).text);
    expect(after.creationTimestamp).toBe(before.creationTimestamp);
    expect(after.generation).toBe(before.generation + 2);
    await untilPolicyWorks();
  });
});

group("Decision", () => {
  test("every field of the types is taken, and kubectl shows what is needed at night", async () => {
    await propose("full");
    const plain = JSON.parse((await server.ask({ method: "GET", path: `${decisions}/full` })).text) as {
      spec: unknown;
    };
    expect(plain.spec).toEqual(fullDecision("full").spec);
    expect(await status("full", fullStatus())).toMatchObject({ code: 200 });
    const [head = "", row = ""] = server.must(["get", "dec", "full", "-n", "levee-system"]).split("\n");
    expect(head.split(/ {2,}/u).map((name) => name.trim())).toEqual([
      ...["NAME", "CAUSE", "PHASE", "STEP", "AGE", "APPROVED-BY", "MESSAGE"],
    ]);
    expect(row).toMatch(/^full +OwnerlessPodAvalanche +Running +4\/8 RemovePods +\d+s +alice +removing$/u);
    expect(server.must(["get", "levee", "-n", "levee-system", "-o", "name"])).toContain("decision.levee.dev/full");
  });

  test("a thousand targets in a step are taken, one more is not", async () => {
    const body = fullDecision("many");
    const targets = Array.from({ length: 1_001 }, (_, index) => ({
      ...{ namespace: "fc-desktop", name: `rd-browser-only-${index}`, node: "rke2-agent1" },
      uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    }));
    const withTargets = (count: number): object => {
      const steps = body.spec.steps.map((step) =>
        step.action === "RemovePods" ? { ...step, targets: targets.slice(0, count) } : step,
      );
      return { ...body, spec: { ...body.spec, steps } };
    };
    const path = decisions;
    expect(await server.ask({ method: "POST", path, body: withTargets(1_001), as: guard })).toMatchObject({
      code: 422,
    });
    expect(await server.ask({ method: "POST", path, body: withTargets(1_000), as: guard })).toMatchObject({
      code: 201,
    });
    expect(await status("many", fullStatus())).toMatchObject({ code: 200 });
  });
});

group("Decision once it is made", () => {
  test("only the guard replaces its plan, and only about the same cause", async () => {
    await propose("proposed");
    const change = (spec: object, as?: Ask["as"]): Promise<Answer> => patch(`${decisions}/proposed`, { spec }, as);
    for (const phase of [undefined, "Proposed"]) {
      if (phase !== undefined)
        expect(await status("proposed", { phase, fence: 1, leader: "a" })).toMatchObject({ code: 200 });
      const refused = await change({ summary: "x" });
      expect([refused.code, refused.text]).toEqual([403, expect.stringContaining("only the guard") as string]);
      expect(await change({ summary: `${phase}`, notes: ["x"] }, guard)).toMatchObject({ code: 200 });
      for (const other of [{ cause: "Other" }, { purpose: "StopSource" }, { subject: { namespace: "other" } }])
        expect(await change(other, guard)).toMatchObject({
          code: 422,
          text: expect.stringContaining("stays about its cause") as string,
        });
    }
  });

  test.each(["Approved", "Running", "Paused", "Succeeded", "Expired"])(
    "its plan is frozen once it is %s, for everybody",
    async (phase) => {
      const name = `frozen-${phase.toLowerCase()}`;
      await propose(name);
      expect(await status(name, { phase, fence: 1, leader: "a" })).toMatchObject({ code: 200 });
      const specs = [{ summary: "x" }, { notes: ["x"] }, { planHash: `sha256:${"1".repeat(64)}` }, { revisions: [] }];
      for (const spec of specs)
        for (const as of [undefined, guard])
          expect(await patch(`${decisions}/${name}`, { spec }, as)).toMatchObject({
            code: 422,
            text: expect.stringContaining("no longer only proposed is frozen") as string,
          });
      // Nor is it thawed by a status that is taken away first.
      expect(await patch(`${decisions}/${name}/status`, { status: null }, guard)).toMatchObject({ code: 422 });
    },
  );

  test.each([
    ["parameters of another action", { action: "Verify" }],
    ["an action that is not in the list", { action: "RunShell" }],
  ])("a step with %s is refused", async (_what, change) => {
    const body = fullDecision("odd");
    const steps = body.spec.steps.map((step, index) => (index === 3 ? { ...step, ...change } : step));
    const answer = await server.ask({
      method: "POST",
      path: decisions,
      body: { ...body, spec: { ...body.spec, steps } },
    });
    expect(answer.code).toBe(422);
  });

  test.each(["Succeeded", "Failed", "Expired", "Rejected", "Superseded"])("%s cannot be left", async (phase) => {
    const name = `ended-${phase.toLowerCase()}`;
    await propose(name);
    expect(await status(name, { phase, fence: 1, leader: "a" })).toMatchObject({ code: 200 });
    const ways = [
      await status(name, { phase: "Running", fence: 2, leader: "b" }),
      await status(name, { phase: null }),
      await status(name, null),
      await putStatus(name, undefined),
      await patch(`${decisions}/${name}/status`, { status: null }),
    ];
    expect(ways.map(({ code }) => code)).toEqual([422, 422, 422, 422, 422]);
    expect(ways[0]?.text).toContain("a terminal phase is final");
    // A later leader may still add to the record.
    expect(await status(name, { message: "x", fence: 2, leader: "b" })).toMatchObject({ code: 200 });
  });

  test("an older leader's write is refused, and so is its own taken back to nothing first", async () => {
    await propose("fenced");
    expect(await status("fenced", { phase: "Running", fence: 7, leader: "b" })).toMatchObject({ code: 200 });
    const ways = [
      await status("fenced", { phase: "Running", fence: 6, leader: "a" }),
      await status("fenced", { phase: "Running", fence: 7, leader: "a" }),
      await status("fenced", null),
      await status("fenced", { fence: null, leader: null }),
      await putStatus("fenced", undefined),
      await putStatus("fenced", { phase: "Running", fence: 6, leader: "a" }),
    ];
    for (const { code, text } of ways) expect([code, text]).toEqual([422, expect.stringContaining("leader") as string]);
    expect(await status("fenced", { phase: "Paused", fence: 7, leader: "b" })).toMatchObject({ code: 200 });
    expect(await status("fenced", { phase: "Running", fence: 8, leader: "c" })).toMatchObject({ code: 200 });
  });

  test("a phase is not taken back to Proposed, nor written without its leader", async () => {
    await propose("onwards");
    expect((await status("onwards", { phase: "Proposed" })).text).toContain("under which leadership");
    const leader = { fence: 1, leader: "a" };
    for (const phase of ["Proposed", "Approved"])
      expect(await status("onwards", { phase, ...leader })).toMatchObject({ code: 200 });
    expect((await status("onwards", { phase: "Proposed", ...leader })).text).toContain("never taken back");
  });
});
