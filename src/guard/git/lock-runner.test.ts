import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StepContext, StepReport } from "../act/step-runner.ts";
import { systemClock } from "../../base/clock.ts";
import type { Decision } from "../decision/decision.ts";
import type { LockToGitStep, SetMemoryLimitStep } from "../decision/step.ts";
import { defaultGuardSettings } from "../facts/guard-settings.ts";
import { blobSha } from "./blob-sha.ts";
import { GitServer } from "./git-server.fixture.ts";
import { LockRunner } from "./lock-runner.ts";
import { editMemoryLimit } from "./yaml-field.ts";

const path = "apps/multus/multus.yaml";
const manifest = `# Multus, as it was installed.
kind: DaemonSet
metadata: {name: kube-multus-ds, namespace: kube-system}
spec:
  template:
    spec:
      containers:
        - name: kube-multus
          resources:
            limits:
              memory: "50Mi" # the upstream default
`;
const field = {
  kind: "DaemonSet",
  namespace: "kube-system",
  name: "kube-multus-ds",
  container: "kube-multus",
  to: "1Gi",
};
const others = { "apps/traefik/values.yaml": "replicas: 2\n", "README.md": "ours\n" };

function stepFor(server: GitServer, text = manifest, changes: Partial<LockToGitStep["lockToGit"]> = {}): LockToGitStep {
  const bytes = new TextEncoder().encode(text);
  const edited = editMemoryLimit(bytes, field);
  if ("problem" in edited) throw new Error(edited.problem);
  return {
    id: 4,
    action: "LockToGit",
    title: "Write it into git",
    kubectl: ["kubectl get decision"],
    preconditions: [],
    check: { what: "one path", deadlineSeconds: 60 },
    lockToGit: {
      repository: server.url,
      baseRef: "main",
      branch: "levee/recover-fc-desktop-1",
      path,
      oldBlobSha: blobSha(bytes, 40),
      newBlobSha: blobSha(edited.bytes, 40),
      newBytesSha256: createHash("sha256").update(edited.bytes).digest("hex"),
      document: edited.document,
      edits: [{ pointer: edited.pointer, from: edited.from, to: field.to }],
      ...changes,
    },
  };
}

/** The step that raises the same limit in the cluster. */
const raise: SetMemoryLimitStep = {
  id: 3,
  action: "SetMemoryLimit",
  title: "Raise it",
  kubectl: ["kubectl set resources"],
  preconditions: [],
  check: { what: "new pods", deadlineSeconds: 60 },
  setMemoryLimit: {
    kind: "DaemonSet",
    namespace: "kube-system",
    name: "kube-multus-ds",
    uid: "uid-multus",
    container: "kube-multus",
    oldLimit: "50Mi",
    newLimit: "1Gi",
    oldRequest: "50Mi",
    newRequest: "50Mi",
  },
};

function decisionOf(step: LockToGitStep, holds = false): Decision {
  return {
    apiVersion: "levee.dev/v1alpha1",
    kind: "Decision",
    metadata: { name: "recover-fc-desktop-1", namespace: "levee-system", uid: "uid-1" },
    spec: {
      cause: "OwnerlessPodAvalanche",
      purpose: "Recover",
      subject: { namespace: "fc-desktop", shape: "rd" },
      summary: "219 pods without an owner",
      evidence: [{ fact: "ownerless pods", value: 219, at: "2026-05-10T19:00:00Z", detail: "" }],
      chain: [],
      notes: [],
      planHash: `sha256:${"1".repeat(64)}`,
      steps: [
        ...(holds
          ? [
              {
                id: 1,
                action: "HoldArgoApp" as const,
                title: "hold",
                kubectl: ["kubectl"],
                preconditions: [],
                check: { what: "held", deadlineSeconds: 60 },
                holdArgoApp: {
                  namespace: "argocd",
                  application: "infra-multus",
                  projectNamespace: "argocd",
                  project: "default",
                  waitSeconds: 60,
                },
              },
            ]
          : []),
        raise,
        step,
      ],
    },
    status: {
      phase: "Running",
      message: "",
      fence: 1,
      leader: "me",
      since: "2026-05-10T19:00:00Z",
      steps: [{ id: 1, phase: "Done", message: "", at: "2026-05-10T19:06:00Z" }],
      approval: { name: "a", by: "alice\u001b[2J", at: "2026-05-10T19:05:00Z" },
    },
  };
}

interface Ran {
  readonly asked: number;
  readonly context: StepContext;
}

interface ContextChanges {
  readonly holds?: boolean;
  /** The Application to hold. */
  readonly automated?: unknown;
  readonly mayWrite?: () => Promise<void>;
}

function contextOf(step: LockToGitStep, more: ContextChanges = {}) {
  let reported: StepReport = {};
  const ran = { asked: 0 };
  const context = {
    decision: decisionOf(step, more.holds),
    api: {
      call: ({ path: asked }: { path: string }) =>
        Promise.resolve(
          JSON.stringify({
            metadata: { name: asked.split("/").at(-1), namespace: "argocd" },
            spec: { project: "default", syncPolicy: { automated: more.automated } },
          }),
        ),
    },
    mayWrite: async () => {
      ran.asked += 1;
      await more.mayWrite?.();
    },
    clock: systemClock,
    settings: defaultGuardSettings,
    signal: new AbortController().signal,
    get reported() {
      return reported;
    },
    report: async (report: StepReport) => {
      reported = { ...reported, ...report };
      await Promise.resolve();
    },
    audit: () => undefined,
  };
  // The runner uses no more than this.
  return {
    ran,
    context: context as unknown as StepContext,
    keep: (report: StepReport) => (reported = report),
  } satisfies Partial<Ran> & Record<string, unknown>;
}

/** In the executor's order. */
async function carryOut(
  runner: LockRunner,
  step: LockToGitStep,
  given = contextOf(step),
): Promise<StepReport & { missing?: string; later?: string }> {
  const { context, keep } = given;
  const refused = (await runner.precondition(step, context)) ?? (await runner.rehearse(step, context));
  if (refused !== undefined) throw new Error(`refused: ${refused}`);
  const result = await runner.perform(step, context);
  keep(result);
  if (result.later !== undefined) return result;
  const missing = await runner.check(step, context);
  return missing === undefined ? result : { ...result, missing };
}

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    (value) => `no failure: ${JSON.stringify(value)}`,
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
  );
}

test("LockRunner pushes one commit that changes one path and states the reason", async () => {
  using server = new GitServer({ [path]: manifest, ...others });
  const step = stepFor(server);
  const given = contextOf(step);
  const result = await carryOut(new LockRunner(server.mirrors()), step, given);
  expect(result.missing).toBeUndefined();
  expect(given.ran.asked).toBe(1);
  const branch = "levee/recover-fc-desktop-1";
  expect(server.ask("rev-parse", branch)).toBe(result.commit ?? "");
  expect(server.ask("diff-tree", "-r", "--name-status", "main", branch)).toBe(`M\t${path}`);
  expect(server.ask("rev-parse", `${branch}^`)).toBe(server.ask("rev-parse", "main"));
  expect(server.ask("show", `${branch}:${path}`)).toBe(manifest.replace('"50Mi"', '"1Gi"').trim());
  const message = server.ask("log", "-1", "--format=%an|%at|%B", branch);
  expect(message).toStartWith(
    `Levee guard|${Date.parse("2026-05-10T19:05:00Z") / 1000}|Raise the memory limit in ${path} from 50Mi to 1Gi`,
  );
  expect(message).toContain(`Levee-Plan: sha256:${"1".repeat(64)}\nLevee-Approved-By: alice`);
  expect(message).toContain("- ownerless pods: 219");
  expect(message).not.toContain("\u001b");
});

test("LockRunner finds its own commit after a lost answer, also when the branch that is followed has moved on", async () => {
  using server = new GitServer({ [path]: manifest, ...others });
  const step = stepFor(server);
  const first = await carryOut(new LockRunner(server.mirrors()), step);
  server.commit({ "README.md": "changed meanwhile\n" });
  const given = contextOf(step);
  // Another process starts with an empty mirror.
  const second = await carryOut(
    new LockRunner(server.mirrors("", { folder: join(server.root, "other") })),
    step,
    given,
  );
  expect(second).toMatchObject({ commit: first.commit ?? "" });
  expect(second.missing).toBeUndefined();
  expect(given.ran.asked).toBe(0);
});

test("LockRunner leaves alone a branch of its name that is not its own", async () => {
  using server = new GitServer({ [path]: manifest });
  server.commit({ [path]: `${manifest}# mine\n` }, "levee/recover-fc-desktop-1");
  server.run(server.clone, "reset", "-q", "--hard", "origin/main");
  const before = server.ask("rev-parse", "levee/recover-fc-desktop-1");
  expect(await failure(carryOut(new LockRunner(server.mirrors()), stepFor(server)))).toContain("not of this plan");
  expect(server.ask("rev-parse", "levee/recover-fc-desktop-1")).toBe(before);
});

test("LockRunner does not accept a commit on top of another one as its own", async () => {
  using server = new GitServer({ [path]: manifest });
  const main = server.ask("rev-parse", "main");
  server.commit({ "evil.yaml": "kind: Role\n" }, "elsewhere");
  server.commit({ [path]: manifest.replace("50Mi", "1Gi") }, "levee/recover-fc-desktop-1");
  server.run(server.clone, "reset", "-q", "--hard", main);
  expect(await failure(carryOut(new LockRunner(server.mirrors()), stepFor(server)))).toContain("not of this plan");
});

test("LockRunner stops when the file differs from the plan, and is done when it already has the new content", async () => {
  using server = new GitServer({ [path]: manifest });
  const step = stepFor(server);
  const runner = new LockRunner(server.mirrors());
  server.commit({ [path]: manifest.replace("50Mi", "64Mi") });
  expect(await failure(carryOut(runner, step))).toMatch(
    /refused: apps\/multus\/multus.yaml has the content \w{40} now/,
  );
  const head = server.commit({ [path]: manifest.replace("50Mi", "1Gi") });
  expect(await carryOut(runner, step)).toMatchObject({ commit: head });
  server.run(server.clone, "rm", "-q", path);
  server.commitAll();
  expect(await failure(carryOut(runner, step))).toContain("no longer exists");
});

test("LockRunner is done when a person has written the value into git in words of their own", async () => {
  using server = new GitServer({ [path]: manifest });
  const step = stepFor(server);
  const runner = new LockRunner(server.mirrors());
  const byHand = manifest.replace(/"50Mi" # .*/u, "1024Mi # raised during the outage, see the ticket");
  const head = server.commit({ [path]: `kind: ConfigMap\nmetadata: {name: other}\n---\n${byHand}` });
  const given = contextOf(step);
  const result = await carryOut(runner, step, given);
  expect(result).toEqual({ commit: head, message: `main already has it, at ${head}` });
  expect(given.ran.asked).toBe(0);
  expect(server.ask("for-each-ref", "refs/heads/levee")).toBe("");
});

for (const [what, text] of [
  ["another value", manifest.replace("50Mi", "512Mi")],
  ["another container", manifest.replace("50Mi", "1Gi").replace("name: kube-multus\n", "name: other\n")],
  ["another DaemonSet", manifest.replace("50Mi", "1Gi").replace("kube-multus-ds", "levee")],
  ["no YAML", `${manifest.replace("50Mi", "1Gi")}\n{{ if }}: [`],
] as const) {
  test(`LockRunner does not take the file for done by hand with ${what}, and says what to write`, async () => {
    using server = new GitServer({ [path]: manifest });
    const step = stepFor(server);
    server.commit({ [path]: text });
    expect(await failure(carryOut(new LockRunner(server.mirrors()), step))).toContain(
      "write 1Gi into it on main by hand, then resume",
    );
  });
}

test("LockRunner does not write through a link, and keeps the mode of the file", async () => {
  using server = new GitServer({ [path]: manifest });
  const step = stepFor(server);
  const runner = new LockRunner(server.mirrors());
  chmodSync(join(server.clone, path), 0o755);
  server.commitAll();
  const { commit = "" } = await carryOut(runner, step);
  expect(server.ask("ls-tree", commit, path)).toStartWith("100755 blob");
  unlinkSync(join(server.clone, path));
  symlinkSync("../../../etc/passwd", join(server.clone, path));
  server.commitAll();
  expect(await failure(carryOut(runner, step))).toContain("is not a plain file (blob 120000)");
});

test("LockRunner keeps the line ends of Windows and a byte order mark", async () => {
  const text = `\ufeff${manifest.replaceAll("\n", "\r\n")}`;
  using server = new GitServer({ [path]: text, ".gitattributes": "*.yaml text eol=lf\n" });
  // Stored unchanged: the attribute applies to the working folder.
  server.run(server.clone, "-c", "core.autocrlf=false", "config", "core.autocrlf", "false");
  rmSync(join(server.clone, ".gitattributes"));
  writeFileSync(join(server.clone, path), `${text}`);
  server.commitAll();
  const { commit = "" } = await carryOut(new LockRunner(server.mirrors()), stepFor(server, text));
  expect(server.ask("cat-file", "blob", `${commit}:${path}`)).toBe(text.replace('"50Mi"', '"1Gi"').trim());
});

test("LockRunner is paused with the server's reason when a hook rejects the push", async () => {
  using server = new GitServer({ [path]: manifest });
  server.hook("pre-receive", 'printf "\\033[31mno pushes on a Friday\\n" >&2; exit 1');
  const why = await failure(carryOut(new LockRunner(server.mirrors()), stepFor(server)));
  expect(why).toStartWith(
    "The server rejects the push to levee/recover-fc-desktop-1: [remote rejected] (pre-receive hook declined)",
  );
  expect(why).toContain("no pushes on a Friday");
  expect(why).not.toContain("\u001b");
  expect(server.ask("for-each-ref", "refs/heads/levee")).toBe("");
});

test("LockRunner defers the step while the server is unreachable and the hold stands", async () => {
  using server = new GitServer({ [path]: manifest });
  const step = stepFor(server);
  const runner = new LockRunner(server.mirrors());
  renameSync(server.bare, `${server.bare}.away`);
  expect((await carryOut(runner, step)).later).toContain("Cannot read the branches of file://");
  const armed = contextOf(step, { holds: true, automated: {} });
  expect(await failure(carryOut(runner, step, armed))).toMatch(
    /Cannot read the branches.*; and Argo CD may sync Application argocd\/infra-multus/,
  );
  expect((await carryOut(runner, step, contextOf(step, { holds: true }))).later).toBeDefined();
  renameSync(`${server.bare}.away`, server.bare);
  expect((await carryOut(runner, step)).commit).toHaveLength(40);
});

test("LockRunner pushes nothing once a person has said stop", async () => {
  using server = new GitServer({ [path]: manifest });
  const step = stepFor(server);
  const given = contextOf(step, { mayWrite: () => Promise.reject(new Error("somebody said stop")) });
  expect(await failure(carryOut(new LockRunner(server.mirrors()), step, given))).toBe("somebody said stop");
  expect(server.ask("for-each-ref", "refs/heads/levee")).toBe("");
});

test("LockRunner refuses what the settings do not allow", async () => {
  using server = new GitServer({ [path]: manifest });
  const refused = async (options: string, changes: Partial<LockToGitStep["lockToGit"]> = {}): Promise<string> =>
    failure(carryOut(new LockRunner(server.mirrors(options)), stepFor(server, manifest, changes)));
  expect(await refused("", { repository: "https://evil.example/x.git" })).toContain("not one of the repositories");
  expect(await refused(",branch=release")).toContain("the branch main is not allowed");
  expect(await refused(",path=apps/traefik")).toContain(`the path ${path} is not allowed`);
  expect(await refused("", { branch: "main" })).toContain("a push to main needs push=direct");
  expect(await refused("", { branch: "release" })).toContain("those begin with levee/");
  expect(await refused("", { branch: "levee/../x" })).toContain("those begin with levee/");
  expect(await refused("", { newBlobSha: "0".repeat(40) })).toContain("are not the approved ones");
  expect(server.ask("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
});

test("LockRunner pushes to the followed branch with push=direct, on top of newer commits", async () => {
  using server = new GitServer({ [path]: manifest });
  const step = stepFor(server, manifest, { branch: "main" });
  const runner = new LockRunner(server.mirrors(",branch=main,path=apps/multus,push=direct"));
  let pushes = 0;
  const given = contextOf(step, {
    // Another push is faster once, between fetch and push.
    mayWrite: async () => {
      pushes += 1;
      if (pushes === 1) server.commit({ "README.md": "faster\n" });
      await Promise.resolve();
    },
  });
  const { commit = "", missing } = await carryOut(runner, step, given);
  expect(missing).toBeUndefined();
  expect(pushes).toBe(2);
  expect(server.ask("rev-parse", "main")).toBe(commit);
  expect(server.ask("show", "main:README.md")).toBe("faster");
});
