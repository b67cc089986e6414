import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { propose } from "../../guard/decide/propose.ts";
import { defaultGuardSettings } from "../../guard/facts/guard-settings.ts";
import { outage } from "../../guard/outage.fixture.ts";
import { ScriptedServer } from "../../kube/client/scripted-server.fixture.ts";
import { fakeShell } from "../fake-shell.fixture.ts";
import { runCli } from "../main.ts";
import type { Terminal } from "../shell.ts";
import { TypedLine } from "./type-line.ts";

const [stop, recover] = propose(outage(), defaultGuardSettings);
const since = "2026-05-10T19:00:00Z";
const folder = "/apis/levee.dev/v1alpha1/namespaces/levee-system";

interface Stored {
  metadata: { name: string; namespace: string; uid: string; creationTimestamp: string };
  spec: { planHash: string; verdict?: string };
  status?: Record<string, unknown>;
}

let server: ScriptedServer;
let dir: string;
let decisions: Stored[];
let approvals: Stored[];
/** What the API server says instead of making an approval. */
let refusal: number | undefined;
/** Ctrl-C, to the command that was started last. */
let interrupt: () => void;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "levee-decisions-"));
  refusal = undefined;
  approvals = [];
  decisions = [stored(recover!.name, recover!.spec, "2026-05-10T19:00:05Z"), stored(stop!.name, stop!.spec, since)];
  server = await ScriptedServer.listen(({ method, url, body }, response) => {
    const answer = answerTo(method, url.pathname, body);
    response.writeHead(answer.code, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
  });
  writeFileSync(
    join(dir, "kubeconfig"),
    `current-context: main
contexts: [{name: main, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "${server.url}"}}]
users: [{name: u, user: {token: t}}]
`,
  );
});
afterEach(async () => {
  await server.close();
  rmSync(dir, { recursive: true });
});

function stored(name: string, spec: { planHash: string }, creationTimestamp: string): Stored {
  const status = { phase: "Proposed", message: "Waits for a person", fence: 1, leader: "a", since };
  return { metadata: { name, namespace: "levee-system", uid: `uid-${name}`, creationTimestamp }, spec, status };
}

function answerTo(method: string, path: string, body: string): { code: number; body: unknown } {
  if (path.endsWith("/selfsubjectreviews")) return { code: 201, body: { status: { userInfo: { username: "alice" } } } };
  if (path.endsWith("/configmaps/levee-guard")) return { code: 403, body: { message: "no" } };
  if (method === "POST" && path === `${folder}/decisionapprovals`) {
    if (refusal !== undefined) return { code: refusal, body: { message: "a person approves, not a workload" } };
    const made = { ...(JSON.parse(body) as Stored) };
    made.metadata = { ...made.metadata, name: "word-1", uid: "w", creationTimestamp: since };
    approvals.push(made);
    return { code: 201, body: made };
  }
  const lists: Readonly<Record<string, Stored[]>> = { decisions, decisionapprovals: approvals };
  const [kind = "", name] = path.slice(folder.length + 1).split("/");
  const items = lists[kind];
  if (items === undefined) return { code: 404, body: {} };
  if (name === undefined) return { code: 200, body: { metadata: { resourceVersion: "1" }, items } };
  const item = items.find(({ metadata }) => metadata.name === name);
  return item === undefined ? { code: 404, body: {} } : { code: 200, body: item };
}

interface End {
  status: number;
  out: string;
  err: string;
}

async function levee(argv: readonly string[], typed?: string): Promise<End> {
  const shell = fakeShell({ argv: ["decisions", ...argv, "--kubeconfig", join(dir, "kubeconfig")] });
  interrupt = () => shell.interrupt();
  const terminal: Terminal = {
    size: () => ({ columns: 80, rows: 24 }),
    hold(listener) {
      queueMicrotask(() => listener.onKey(`${typed}\r`));
      return () => undefined;
    },
  };
  const status = await runCli({ ...shell, terminal: typed === undefined ? undefined : terminal });
  return { status, out: shell.stdout.text, err: shell.stderr.text };
}

describe("levee decisions list", () => {
  test("shows the oldest first, with why each waits", async () => {
    const { status, out } = await levee(["list"]);
    expect(status).toBe(0);
    const [head, first, second] = out.split("\n");
    expect(head).toMatch(/^NAME +CAUSE +PHASE +STEP +AGE +APPROVED-BY +MESSAGE$/u);
    expect(first).toMatch(/^stop-fc-desktop-1 +OwnerlessPodAvalanche +Proposed +- +\S+ +- +Waits for a person$/u);
    expect(second).toStartWith("recover-fc-desktop-1 ");
  });

  test("puts those that have ended below those that wait, the newest of them first", async () => {
    const ended = ["1", "2"].map((number) => ({
      ...stored(`recover-old-${number}`, recover!.spec, `2026-05-0${number}T19:00:00Z`),
      status: { phase: "Succeeded", message: "", fence: 1, leader: "a", since },
    }));
    decisions = [...ended, ...decisions];
    const names = (await levee(["list", "-o", "name"])).out.trim().split("\n");
    expect(names.map((name) => name.replace("decision.levee.dev/", ""))).toEqual([
      stop!.name,
      recover!.name,
      "recover-old-2",
      "recover-old-1",
    ]);
  });

  test("puts the stop first of two that were made in one second, and names the namespace that has none", async () => {
    for (const { metadata } of decisions) metadata.creationTimestamp = since;
    expect((await levee(["list", "-o", "name"])).out).toStartWith("decision.levee.dev/stop-fc-desktop-1\n");
    decisions = [];
    expect((await levee(["list"])).out).toBe("No Decisions in levee-system\n");
  });

  test("prints names for other commands, and the objects as JSON", async () => {
    expect((await levee(["list", "-o", "name"])).out).toBe(
      "decision.levee.dev/stop-fc-desktop-1\ndecision.levee.dev/recover-fc-desktop-1\n",
    );
    const list = JSON.parse((await levee(["list", "-o", "json"])).out) as { items: Stored[] };
    expect(list.items[1]?.spec.planHash).toBe(recover!.spec.planHash);
  });

  test("names what it cannot read instead of hiding it", async () => {
    decisions.push(stored("later-1", { planHash: "x" }, since));
    const { err, out } = await levee(["list"]);
    expect(err).toContain("because a newer guard wrote them: later-1");
    expect(out).not.toContain("later-1");
  });

  test("ends with 3 when the cluster refuses or cannot be reached, with 1 when it has no guard", async () => {
    server.script = (_request, response) => void response.writeHead(403).end("{}");
    expect((await levee(["list"])).status).toBe(3);
    server.script = (_request, response) => void response.writeHead(404).end("{}");
    expect(await levee(["list"])).toMatchObject({
      status: 1,
      err: expect.stringContaining("kubectl apply -f crds.yaml of the release"),
    });
    await server.close();
    expect((await levee(["list"])).status).toBe(3);
  });
});

describe("levee decisions show", () => {
  test("tells what was seen, what is proposed with its lines, what can go wrong, and the hash", async () => {
    const { status, out } = await levee(["show", recover!.name]);
    expect(status).toBe(0);
    for (const part of ["What was seen", "What follows from it", "What can go wrong", recover!.spec.planHash])
      expect(out).toContain(part);
    for (const step of recover!.spec.steps) {
      expect(out).toContain(`${step.id}. ${step.action}  ${step.title}`);
      for (const line of step.kubectl) expect(out).toContain(`$ ${line}`);
    }
    expect(out).toContain("removes 219 pods of fc-desktop by UID: ");
    expect(out).toContain(`levee decisions approve ${recover!.name}`);
  });

  test("tells how the plan changed, and whose word is for an earlier one", async () => {
    const revisions = [{ at: since, planHash: `sha256:${"0".repeat(64)}`, change: "25 more pods, 45 in all" }];
    decisions[0] = { ...decisions[0]!, spec: { ...recover!.spec, revisions } as Stored["spec"] };
    const spec = {
      ...{ decision: recover!.name, decisionUID: `uid-${recover!.name}`, planHash: revisions[0]!.planHash },
      ...{ verdict: "Approve", by: { username: "alice" } },
    };
    approvals = [{ metadata: { name: "w", namespace: "levee-system", uid: "w", creationTimestamp: since }, spec }];
    const { out } = await levee(["show", recover!.name]);
    expect(out).toContain(
      "How the plan changed before anybody approved it\n  - 2026-05-10T19:00:00Z: 25 more pods, 45 in all",
    );
    expect(out).toMatch(/Approve +alice .* for an earlier plan, so it does not count/u);
  });

  test("shows no control characters of tenants", async () => {
    decisions[0]!.status!["message"] = "\u001b[2Jgone\u202e";
    expect((await levee(["show", recover!.name])).out).not.toMatch(/[\u001b\u202e]/u);
  });

  test("says that a plan is not the one that was hashed", async () => {
    decisions[0] = JSON.parse(JSON.stringify(decisions[0]).replace('"newLimit":"1Gi"', '"newLimit":"64Gi"')) as Stored;
    expect((await levee(["show", recover!.name])).out).toContain("× The plan does not match its hash sha256:");
    expect(await levee(["approve", recover!.name, "--plan-hash", recover!.spec.planHash])).toMatchObject({ status: 4 });
    expect(approvals).toEqual([]);
  });

  test("takes the name as -o name prints it", async () => {
    for (const name of [`decision.levee.dev/${stop!.name}`, `decision/${stop!.name}`])
      expect((await levee(["show", name, "-o", "name"])).out).toBe(`decision.levee.dev/${stop!.name}\n`);
  });

  test("counts one step as one", async () => {
    expect((await levee(["show", stop!.name])).out).toContain("What is proposed: StopSource, 1 step in this order\n");
  });

  test("names the command that lists them when there is none of that name", async () => {
    expect(await levee(["show", "other"])).toMatchObject({
      status: 1,
      err: expect.stringContaining("try: levee decisions list"),
    });
  });
});

describe("levee decisions approve", () => {
  test("writes the word of the person who typed the name, on this plan", async () => {
    const { status, out } = await levee(["approve", stop!.name, "--reason", "seen it"], stop!.name);
    expect(status).toBe(0);
    expect(out).toContain("alice gave the verdict Approve on stop-fc-desktop-1");
    expect(approvals[0]?.spec).toEqual({
      decision: stop!.name,
      decisionUID: `uid-${stop!.name}`,
      planHash: stop!.spec.planHash,
      verdict: "Approve",
      by: { username: "alice" },
      reason: "seen it",
    } as unknown as Stored["spec"]);
  });

  test.each([
    ["another name typed", [], "yes"],
    ["no name typed", [], undefined],
    ["--yes alone", ["--yes"], undefined],
    ["the hash of another plan", ["--plan-hash", `sha256:${"0".repeat(64)}`], undefined],
  ])("says nothing and ends with 4: %s", async (_what, options, typed) => {
    expect((await levee(["approve", stop!.name, ...options], typed)).status).toBe(4);
    expect(approvals).toEqual([]);
  });

  test.each([
    ["before the word is given", "GET", 0, "so nothing was approved: 25 more pods"],
    ["in the moment in which it is given", "POST", 1, "so the approval word-1 does not count: 25 more pods"],
  ])("ends with 4 and the change in words when the plan is replaced %s", async (_what, method, made, why) => {
    const serve = server.script;
    server.script = (request, response) => {
      serve(request, response);
      // A person reads for a while: only the first look has the old plan.
      if (
        request.method !== method ||
        !request.url.pathname.includes(method === "GET" ? stop!.name : "decisionapprovals")
      )
        return;
      const planHash = `sha256:${"2".repeat(64)}`;
      const revisions = [{ at: since, planHash: stop!.spec.planHash, change: "25 more pods" }];
      decisions[1] = { ...decisions[1]!, spec: { ...stop!.spec, planHash, revisions } as Stored["spec"] };
    };
    const { status, err } = await levee(["approve", stop!.name, "--plan-hash", stop!.spec.planHash]);
    expect(status).toBe(4);
    expect(err).toContain(`The plan of ${stop!.name} changed while you read it, ${why}`);
    expect(err).toContain(`try: levee decisions approve ${stop!.name}, which shows the new plan`);
    expect(approvals).toHaveLength(made);
  });

  test("ends with 4 for a Decision that has ended, and with 3 for a user that the policy refuses", async () => {
    const planHash = ["--plan-hash", stop!.spec.planHash];
    refusal = 403;
    expect(await levee(["approve", stop!.name, ...planHash])).toMatchObject({
      status: 3,
      err: expect.stringContaining("a person approves, not a workload"),
    });
    decisions[1]!.status!["phase"] = "Expired";
    expect((await levee(["approve", stop!.name, ...planHash])).status).toBe(4);
  });
});

describe("levee decisions approve --wait", () => {
  test("follows it to its end and says how it ended", async () => {
    const planHash = ["--plan-hash", stop!.spec.planHash, "--wait"];
    const later = {
      phase: "Succeeded",
      message: "All checks hold",
      fence: 1,
      leader: "a",
      since: "2026-05-10T19:05:00Z",
    };
    const serve = server.script;
    server.script = (request, response) => {
      if (approvals.length > 0) decisions[1]!.status = later;
      serve(request, response);
    };
    const done = await levee(["approve", stop!.name, ...planHash]);
    expect(done).toMatchObject({ status: 0, err: expect.stringContaining("Succeeded: All checks hold") });
    expect(done.out).toEndWith("stop-fc-desktop-1 is Succeeded\n");
  });

  test.each([
    ["Paused", 4],
    ["Failed", 1],
    ["Expired", 4],
    ["Proposed", 4],
  ])("ends after --wait for one that is %s with %i", async (phase, code) => {
    const serve = server.script;
    server.script = (request, response) => {
      if (approvals.length > 0)
        decisions[1]!.status = {
          phase,
          message: "Waits for a person — but Why",
          fence: 1,
          leader: "a",
          since: "2026-05-10T19:05:00Z",
        };
      serve(request, response);
    };
    expect(await levee(["approve", stop!.name, "--plan-hash", stop!.spec.planHash, "--wait"])).toMatchObject({
      status: code,
      err: expect.stringContaining("Why"),
    });
  });

  test("repeats no approval that stands, and follows it", async () => {
    const planHash = ["--plan-hash", stop!.spec.planHash];
    expect((await levee(["approve", stop!.name, ...planHash])).status).toBe(0);
    const approval = { name: "word-1", by: "alice", at: since };
    decisions[1]!.status = { phase: "Running", message: "Sets it", fence: 1, leader: "a", since, approval };
    const again = await levee(["approve", stop!.name, "--wait", "--timeout", "10ms"]);
    expect(again).toMatchObject({ status: 1, err: expect.stringContaining("has not ended after 0.01 s") });
    expect(again.out).toContain(
      `alice approved stop-fc-desktop-1 already at ${since}; no second approval is created\n`,
    );
    expect(approvals).toHaveLength(1);
  });

  test("says after Ctrl-C that the Decision goes on, and what stops it", async () => {
    const serve = server.script;
    server.script = (request, response) => {
      serve(request, response);
      if (approvals.length > 0 && request.method === "GET") interrupt();
    };
    const { status, err } = await levee(["approve", stop!.name, "--plan-hash", stop!.spec.planHash, "--wait"]);
    expect(status).toBe(130);
    expect(err).toEndWith(
      "while following stop-fc-desktop-1, which goes on (interrupted)\n  try: levee decisions pause stop-fc-desktop-1 stops it\n",
    );
  });

  test("does not wait longer than it is told, nor take an old pause for the answer", async () => {
    decisions[1]!.status = { phase: "Paused", message: "m", fence: 1, leader: "a", since };
    const argv = ["resume", stop!.name, "--plan-hash", stop!.spec.planHash, "--wait", "--timeout", "10ms"];
    expect(await levee(argv)).toMatchObject({ status: 1, err: expect.stringContaining("has not ended after 0.01 s") });
  });
});

test("levee decisions resume of a Decision that has not begun ends with 4 and names approve", async () => {
  const { status, err } = await levee(["resume", stop!.name, "--plan-hash", stop!.spec.planHash]);
  expect(status).toBe(4);
  expect(err).toContain("it is Proposed, and only an approval begins it");
  expect(err).toContain("try: levee decisions approve stop-fc-desktop-1");
  expect(approvals).toEqual([]);
});

test("levee decisions with a verb that is not there names it and those that are", async () => {
  const { status, err } = await levee(["aprove", stop!.name]);
  expect(status).toBe(2);
  expect(err).toContain('Cannot "aprove" a Decision: the verbs are list, show, approve, reject, pause, resume');
});

test("levee decisions pause asks nothing, reject asks unless --yes", async () => {
  expect((await levee(["pause", stop!.name])).status).toBe(0);
  expect((await levee(["reject", stop!.name])).status).toBe(4);
  expect((await levee(["reject", stop!.name, "--yes"])).status).toBe(0);
  expect(approvals.map(({ spec }) => spec.verdict)).toEqual(["Pause", "Reject"]);
});

test("TypedLine takes keys one by one and pasted, rubs out, and stops", () => {
  let shown = "";
  const line = new TypedLine((text) => (shown += text));
  expect(line.add("\u007fabx")).toBe("more");
  expect(line.add("\u001b[A")).toBe("more");
  expect(line.add("\u007fc\rrest")).toBe("done");
  expect(line.text).toBe("abc");
  expect(shown).toBe("abx\b \bc");
  expect(new TypedLine(() => undefined).add("\u0004")).toBe("stop");
  expect(line.add("\u0003")).toBe("stop");
});
