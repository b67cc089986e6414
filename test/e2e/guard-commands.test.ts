/** The commands on the guard's side of a cluster, as persons run them, on a real API server with everything as shipped. */
import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { propose } from "../../src/guard/decide/propose.ts";
import type { Proposal } from "../../src/guard/decide/causes/make-proposal.ts";
import { defaultGuardSettings } from "../../src/guard/facts/guard-settings.ts";
import { outage } from "../../src/guard/outage.fixture.ts";
import { approvals, decisions, guardUser, startGuardServer } from "./guard/guard-server.ts";
import { mergePatch, personTokens, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";

const { group, beforeAll, beforeEach, afterAll } = needsServer("guard-commands");

const program = join(import.meta.dir, "../../src/main.ts");
const [stop, recover] = propose(outage(), defaultGuardSettings) as [Proposal, Proposal];

interface End {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

let server: PolicyServer;
let logins: Readonly<Record<"alice" | "bob" | "carol" | "robot", string>>;

beforeAll(async () => {
  server = await startGuardServer();
  // Carol may look and may write approvals, but lacks the verb approve; the account has the whole role.
  server.must(["create", "clusterrole", "look", "--verb=get,list", "--resource=decisions.levee.dev"]);
  server.must(["create", "clusterrole", "word", "--verb=get,list,create", "--resource=decisionapprovals.levee.dev"]);
  for (const role of ["look", "word"])
    server.must(["create", "clusterrolebinding", role, `--clusterrole=${role}`, "--group=readers"]);
  server.must(["create", "serviceaccount", "robot"]);
  const account = "--serviceaccount=default:robot";
  server.must(["create", "clusterrolebinding", "robot", "--clusterrole=levee-approver", account]);
  const robot = server.must(["create", "token", "robot", "--duration=1h"]).trim();
  logins = {
    alice: await server.kubeconfig(personTokens.alice),
    bob: await server.kubeconfig(personTokens.bob),
    carol: await server.kubeconfig(personTokens.carol),
    robot: await server.kubeconfig(robot),
  };
}, 180_000);

afterAll(async () => {
  await server.stop();
});

beforeEach(async () => {
  for (const path of [approvals, decisions]) await server.ask({ method: "DELETE", path });
  for (const { name, spec } of [stop, recover]) {
    const metadata = { name, namespace: "levee-system" };
    const body = { apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata, spec };
    const made = await server.ask({ method: "POST", path: decisions, body, as: { user: guardUser } });
    if (made.code !== 201) throw new Error(made.text);
    await write(name, { phase: "Proposed", message: "Waits for a person" });
  }
});

/** As the leader writes it. */
async function write(name: string, change: object): Promise<void> {
  const status = { fence: 1, leader: "a", since: new Date().toISOString().replace(/\.\d+/, ""), ...change };
  const path = `${decisions}/${name}/status`;
  const answer = await server.ask({
    method: "PATCH",
    path,
    type: mergePatch,
    body: { status },
    as: { user: guardUser },
  });
  if (answer.code !== 200) throw new Error(answer.text);
}

function words(): readonly { spec: Record<string, unknown>; metadata: { name: string } }[] {
  const list = server.must(["-n", "levee-system", "get", "decisionapprovals", "-o", "json"]);
  return (JSON.parse(list) as { items: { spec: Record<string, unknown>; metadata: { name: string } }[] }).items;
}

function uidOf(name: string): string {
  return server.must(["-n", "levee-system", "get", "decision", name, "-o", "jsonpath={.metadata.uid}"]);
}

function levee(who: keyof typeof logins, ...argv: readonly string[]): Promise<End> {
  return run([process.execPath, program, ...argv, "--kubeconfig", logins[who]]);
}

async function untilWords(count: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if (words().length >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`There are still fewer than ${count} words after 10 s`);
}

async function unreachable(): Promise<string> {
  const config = JSON.stringify(JSON.parse(await Bun.file(logins.alice).text())).replaceAll(
    server.url,
    "https://127.0.0.1:1",
  );
  const path = `${logins.alice}.away`;
  await Bun.write(path, config);
  return path;
}

group("levee status", () => {
  test("shows an approver the Decisions and one line for the rest, and a viewer everything", async () => {
    const approver = await levee("alice", "status");
    expect(approver.out).toMatch(/^Decisions +2 open: levee decisions show NAME$/mu);
    expect(approver.out).toMatch(/^Rights +this user may not see daemons, nodes, guard, pods: kubectl create /mu);
    expect(approver.out).not.toContain("not known");
    server.must(["create", "clusterrolebinding", "viewer", "--clusterrole=levee-viewer", "--user=alice"]);
    try {
      const viewer = await levee("alice", "status");
      expect(viewer.out).not.toMatch(/^Rights /mu);
      expect(viewer.out).toMatch(/^Nodes +0, 0 with trouble$/mu);
    } finally {
      server.must(["delete", "clusterrolebinding", "viewer"]);
    }
    // Who sees nothing at all is told so.
    expect(await levee("bob", "status")).toMatchObject({ status: 3 });
  });
});

group("levee decisions", () => {
  test("list shows both, oldest first; names go into other commands", async () => {
    const { status, out } = await levee("alice", "decisions", "list");
    expect(status).toBe(0);
    const [, ...rows] = out.trim().split("\n");
    expect(rows).toHaveLength(2);
    for (const row of rows)
      expect(row).toMatch(
        /^(?:stop|recover)-fc-desktop-1 +OwnerlessPodAvalanche +Proposed +- +\d+s +- +Waits for a person$/u,
      );
    const names = await levee("alice", "decisions", "list", "-o", "name");
    expect(server.kubectl(["-n", "levee-system", "get", ...names.out.trim().split("\n")]).status).toBe(0);
  });

  test("the wrong person, the wrong account and an unreachable server: 3, and no approval is written", async () => {
    const hash = ["--plan-hash", stop.spec.planHash];
    expect((await levee("bob", "decisions", "list")).status).toBe(3);
    const carol = await levee("carol", "decisions", "approve", stop.name, ...hash);
    expect(carol).toMatchObject({ status: 3, err: expect.stringContaining("carol lacks the verb approve") });
    const robot = await levee("robot", "decisions", "approve", stop.name, ...hash);
    expect(robot).toMatchObject({ status: 3, err: expect.stringContaining("a person approves, not a workload") });
    expect(words()).toEqual([]);
    const away = await run([process.execPath, program, "decisions", "list", "--kubeconfig", await unreachable()]);
    expect(away).toMatchObject({ status: 3, err: expect.stringContaining("api-unreachable") });
  });

  test("another plan and no confirmation: 4, and no word is written", async () => {
    const other = await levee("alice", "decisions", "approve", stop.name, "--plan-hash", recover.spec.planHash);
    expect(other).toMatchObject({ status: 4, err: expect.stringContaining("plan-changed") });
    const nobody = await levee("alice", "decisions", "approve", stop.name, "--yes");
    expect(nobody).toMatchObject({ status: 4, err: expect.stringContaining(`--plan-hash ${stop.spec.planHash}`) });
    expect(nobody.out).toContain("What is proposed: StopSource");
    await write(stop.name, { phase: "Rejected", message: "bob said no" });
    const late = await levee("alice", "decisions", "approve", stop.name, "--plan-hash", stop.spec.planHash);
    expect(late).toMatchObject({ status: 4, err: expect.stringContaining("decision-ended") });
    expect(words()).toEqual([]);
  });

  test("a person at a terminal types the name, and the word is theirs", async () => {
    const command = [process.execPath, program, "decisions", "approve", recover.name, "--kubeconfig", logins.alice];
    const wrong = await run(["script", "-qec", command.join(" "), "/dev/null"], { type: "yes\r", at: "Type the" });
    expect(wrong.status).toBe(4);
    expect(words()).toEqual([]);
    const right = await run(["script", "-qec", command.join(" "), "/dev/null"], {
      type: `${recover.name}\r`,
      at: "Type the",
    });
    expect(right).toMatchObject({
      status: 0,
      out: expect.stringContaining(`alice gave the verdict Approve on ${recover.name}`),
    });
    expect(words().map(({ spec }) => spec)).toEqual([
      {
        decision: recover.name,
        decisionUID: uidOf(recover.name),
        planHash: recover.spec.planHash,
        verdict: "Approve",
        by: { username: "alice" },
      },
    ]);
  });
});

group("levee decisions to the end", () => {
  test("approve --wait follows to the end: Paused is 4, then resume --wait ends well", async () => {
    const hash = ["--plan-hash", stop.spec.planHash, "--wait", "--timeout", "60s"];
    const following = levee("alice", "decisions", "approve", stop.name, ...hash);
    await untilWords(1);
    await write(stop.name, { phase: "Running", message: "Works", step: "1/1 StopSource" });
    await write(stop.name, { phase: "Paused", message: "The check did not hold" });
    expect(await following).toMatchObject({ status: 4, err: expect.stringContaining("The check did not hold") });
    const resumed = levee("alice", "decisions", "resume", stop.name, ...hash);
    await untilWords(2);
    await write(stop.name, { phase: "Running", message: "alice resumed it" });
    await write(stop.name, { phase: "Succeeded", message: "All checks hold" });
    expect(await resumed).toMatchObject({ status: 0, out: expect.stringContaining(`${stop.name} is Succeeded`) });
    expect(
      words()
        .map(({ spec }) => spec["verdict"])
        .toSorted(),
    ).toEqual(["Approve", "Resume"]);
  });

  test("report writes what happened, and every number in it is the Decision's", async () => {
    await levee(
      "alice",
      "decisions",
      "approve",
      stop.name,
      "--plan-hash",
      stop.spec.planHash,
      "--reason",
      "seen 3 of *them*",
    );
    const at = "2026-05-10T19:02:11Z";
    const steps = [{ id: 1, phase: "Done", message: "the label is set", at, dryRun: "Passed", verified: true }];
    await write(stop.name, { phase: "Running", message: "Works", startedAt: at });
    await write(stop.name, { phase: "Succeeded", message: "All checks hold", endedAt: at, steps });
    const { status, out } = await levee("alice", "report", stop.name);
    expect(status).toBe(0);
    expect(out).toStartWith("# Post-mortem: stop-fc-desktop-1\n\n| Field | Value |\n");
    expect(out).toContain("| **Status** | Succeeded |\n\n## Summary\n");
    expect(out).toContain("seen 3 of \\*them\\*");
    const stored = server.must(["-n", "levee-system", "get", "decision,decisionapproval", "-o", "json"]);
    const known = new Set(stored.match(/\d+/gu));
    expect([...new Set(out.match(/\d+/gu))].filter((number) => !known.has(number))).toEqual([]);
    const file = `${logins.alice}.md`;
    expect((await levee("alice", "report", stop.name, "--file", file)).out).toBe("");
    expect(await Bun.file(file).text()).toBe(out);
  });

  test("completion offers the names of Decisions, to speak to only those that are open; kubectl levee is the same", async () => {
    await write(stop.name, { phase: "Rejected", message: "no" });
    const words = async (...typed: readonly string[]): Promise<string> =>
      (await run([process.execPath, program, "completion", "words", "--", ...typed])).out;
    const login = ["--kubeconfig", logins.alice];
    expect(await words("decisions", "show", ...login, "")).toBe(`${recover.name}\n${stop.name}\n`);
    expect(await words("decisions", "approve", ...login, "")).toBe(`${recover.name}\n`);
    expect(await words("report", ...login, "stop")).toBe(`${stop.name}\n`);
    expect(await words("decisions", "show", "--kubeconfig", logins.bob, "")).toBe("");
    const plugin = join(import.meta.dir, "../../deploy/plugin");
    const folder = `${logins.alice}.d`;
    await Bun.write(`${folder}/levee`, `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
    await run(["chmod", "+x", `${folder}/levee`]);
    const path = `${folder}:${plugin}:${process.env["PATH"] ?? ""}`;
    const listed = await run(["env", `PATH=${path}`, "kubectl", "levee", "decisions", "list", "-o", "name", ...login]);
    expect(listed.out).toContain(`decision.levee.dev/${recover.name}\n`);
    const completed = await run(["env", `PATH=${path}`, "kubectl", "__complete", "levee", "decisions", "sho"]);
    expect(completed.out).toContain("show\n:4\n");
  });
});

interface Typing {
  /** Typed once `at` is shown. */
  readonly type: string;
  readonly at: string;
}

function run([command = "", ...args]: readonly string[], typing?: Typing): Promise<End> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent" } });
    let [out, err, isTyped] = ["", "", false];
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      if (typing === undefined || isTyped || !out.includes(typing.at)) return;
      isTyped = true;
      child.stdin.write(typing.type);
    });
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, out, err }));
    if (typing === undefined) child.stdin.end();
  });
}
