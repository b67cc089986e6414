/** What the guard proposes, on a real API server: it sees pods there, its Decisions fit their definition, its lines work. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { Leadership } from "../../src/guard/decide/next-status.ts";
import { propose } from "../../src/guard/decide/propose.ts";
import * as limits from "../../src/guard/decision/limits.ts";
import { isPlanIntact, parseDecision } from "../../src/guard/decision/parse-decision.ts";
import type { Step } from "../../src/guard/decision/step.ts";
import { defaultGuardSettings as settings } from "../../src/guard/facts/guard-settings.ts";
import { Election, type ElectionOptions } from "../../src/guard/lead/election.ts";
import { ClusterFacts } from "../../src/guard/observe/cluster-facts.ts";
import { guardRound, type RoundResult, type RoundSource } from "../../src/guard/reconcile/guard-round.ts";
import { fixedAccess } from "../../src/kube/access/access.ts";
import { ApiClient } from "../../src/kube/client/api-client.ts";
import { outage } from "../../src/guard/outage.fixture.ts";
import { outagePods } from "../../src/guard/world.fixture.ts";
import { adminToken, mergePatch, PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";
import { until } from "./until.ts";

const deploy = join(import.meta.dir, "../../deploy");
const { group, beforeAll, afterAll } = needsServer("guard-proposals");

/** Ten minutes ahead: pods that were made just now have waited long enough. */
const laterClock: Clock = { ...systemClock, wallMs: () => systemClock.wallMs() + 600_000 };
const podCount = 30;

let server: PolicyServer;
let client: ApiClient;
let facts: ClusterFacts;

beforeAll(async () => {
  server = await PolicyServer.start();
  server.must([
    "apply",
    "-f",
    join(deploy, "crd/decision.yaml"),
    "-f",
    join(deploy, "crd/decision-approval.yaml"),
    "-f",
    join(deploy, "policies/ownerless-pods.yaml"),
  ]);
  for (const namespace of [settings.namespace, "fc-desktop"]) server.must(["create", "namespace", namespace]);
  server.must(["-n", "fc-desktop", "create", "serviceaccount", "operator"]);
  const manifests = Array.from({ length: podCount }, (_, index) => pod(`rd-browser-only-${index}`)).join("---\n");
  server.must(["create", "-f", "-"], manifests);
  server.must(["create", "-f", "-"], `${pod("debug", "run: debug")}---\n${owned("web")}`);
  server.must(["wait", "--for=condition=established", "crd/decisions.levee.dev"]);
  client = new ApiClient({
    access: fixedAccess(server.url, { token: adminToken, tls: { rejectUnauthorized: false } }),
    clock: systemClock,
  });
  facts = new ClusterFacts({
    api: client,
    clock: laterClock,
    logger: silentLogger,
    settings,
    sources: {
      alerts: () => [],
      nodeViews: () => [],
      memoryCalms: () => undefined,
      gitFiles: () => [],
      notes: () => [],
    },
  });
  await until("everything is listed", () => when(facts.synced()));
}, 180_000);

afterAll(async () => {
  await facts.close();
  client.close();
  await server.stop();
});

function election(): Omit<ElectionOptions, "identity"> {
  return {
    api: client,
    clock: systemClock,
    logger: silentLogger,
    namespace: settings.namespace,
    name: "levee-guard",
  };
}

group("the guard proposes", () => {
  test("the leader makes two Decisions of one avalanche, the API server takes them as they are, and the hash holds", async () => {
    const expected = propose(facts.world(), settings);
    expect(expected.map(({ name }) => name)).toEqual(["stop-fc-desktop-1", "recover-fc-desktop-1"]);
    const term = await new Election({ ...election(), identity: "guard-a" }).lead(AbortSignal.timeout(30_000));
    const round = (leader: Leadership & { isHeld(): boolean }): Promise<RoundResult> =>
      guardRound({ api: client, clock: laterClock, logger: silentLogger, settings, source: facts, term: leader });
    expect((await round(term)).created).toEqual(["stop-fc-desktop-1", "recover-fc-desktop-1"]);
    await until("both Decisions are seen", () => when(facts.world().decisions.length === 2));
    for (const { name, spec } of expected) {
      const stored = parseDecision(
        JSON.parse(server.must(["-n", settings.namespace, "get", "decision", name, "-o", "json"])),
      );
      // Nothing was dropped or filled in by the schema; only the second in which it was seen differs.
      expect({ ...stored?.spec, evidence: [] }).toEqual({ ...spec, evidence: [] });
      expect(isPlanIntact(stored!)).toBe(true);
    }
    expect(await round(term)).toEqual({
      outcome: "done",
      created: [],
      revised: [],
      changed: ["stop-fc-desktop-1", "recover-fc-desktop-1"],
    });
    const listed = server.must(["-n", settings.namespace, "get", "decisions"]);
    expect(listed).toMatch(/stop-fc-desktop-1 .*Proposed/);
    await until("both statuses are seen", () =>
      when(facts.world().decisions.every(({ status }) => status !== undefined)),
    );
    // One who led before writes under a lower fence: it would end the Decisions, whose cause it does not see.
    const blind: RoundSource = { ...sourceOf(facts), world: () => ({ ...facts.world(), pods: [] }) };
    const late = { identity: "guard-0", fence: term.fence - 1, isHeld: () => true };
    const failure = await guardRound({
      api: client,
      clock: laterClock,
      logger: silentLogger,
      settings,
      source: blind,
      term: late,
    }).catch((thrown: unknown) => thrown);
    expect(String(failure)).toContain("an older leader may not write");
    await term.release();
    const next = await new Election({ ...election(), identity: "guard-b" }).lead(AbortSignal.timeout(30_000));
    expect(next.fence).toBe(term.fence + 1);
    await next.release();
  }, 60_000);
});

group("the largest Decision", () => {
  test.each([
    ["2,000 pods with names as operators give them", 36, "rke2-agent1.example"],
    ["as many pods as fit with names of full length", 253, "n".repeat(253)],
  ])(
    "the largest Decision fits into etcd with everything its status can say: %s",
    async (_what, nameChars, node) => {
      const pods = outagePods(2_500).map((one, index) => ({
        ...one,
        name: `${one.name}-`.padEnd(nameChars, "x"),
        uid: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
        node,
      }));
      const { spec } = propose(outage({ pods, namespaces: [] }), settings)[1]!;
      const name = `recover-largest-${nameChars}`;
      const path = `/apis/levee.dev/v1alpha1/namespaces/${settings.namespace}/decisions`;
      const wide = {
        ...spec,
        evidence: filled(limits.evidenceMax, (n) => ({ fact: "f", value: n, at: now, detail: "d".repeat(1_024) })),
        chain: filled(limits.chainEdgesMax, () => ({
          cause: long(512),
          effect: long(512),
          rule: "R",
          why: long(1_024),
        })),
        notes: filled(limits.notesMax, () => long(limits.textCharsMax)),
        revisions: filled(limits.revisionsMax, () => ({
          ...{ at: now, planHash: `sha256:${"0".repeat(64)}`, change: long(limits.revisionCharsMax) },
        })),
      };
      const decision = { apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata: { name }, spec: wide };
      const made = await server.ask({ method: "POST", path, body: decision });
      expect({ code: made.code, said: made.code === 201 ? "" : made.text.slice(0, 500) }).toEqual({
        code: 201,
        said: "",
      });
      const removals = spec.steps.filter(isRemoval);
      const status = {
        ...{ phase: "Running", message: long(1_024), fence: 1, leader: "guard-a", since: now, startedAt: now },
        intent: { step: 2, batch: 1, uids: removals[0]!.targets.map(({ uid }) => uid), at: now },
        steps: spec.steps.map((step) => ({
          ...{ id: step.id, phase: "Failed", message: long(1_024), at: now },
          ...(isRemoval(step) ? { leftAlone: step.targets.map((target) => `${target.name}: ${long(60)}`) } : {}),
          ...(step.action === "ListStuck" ? { lines: filled(limits.stuckWorkloadsMax, () => long(512)) } : {}),
        })),
        audit: filled(limits.auditMax, () => ({ at: now, leader: "guard-a", what: long(limits.auditCharsMax) })),
      };
      for (const batch of [1, 2]) {
        const body = { status: { ...status, intent: { ...status.intent, batch } } };
        const set = await server.ask({ method: "PATCH", path: `${path}/${name}/status`, type: mergePatch, body });
        expect({ code: set.code, said: set.code === 200 ? "" : set.text.slice(0, 500) }).toEqual({
          code: 200,
          said: "",
        });
      }
      const kept = await server.ask({ method: "GET", path: `${path}/${name}` });
      const targets = removals.reduce((sum, step) => sum + step.targets.length, 0);
      console.log(`${targets} targets: ${kept.text.length} bytes with status and managedFields`);
      // Half a mebibyte below what etcd takes in one request.
      expect(kept.text.length).toBeLessThan(1_048_576);
      server.must(["-n", settings.namespace, "delete", "decision", name]);
    },
    60_000,
  );
});

group("the guard's lines for people", () => {
  test("the line that stops the source stops it, and the guard sees that it is stopped", async () => {
    const [stop] = propose({ ...facts.world(), decisions: [] }, settings);
    run(server, stop?.spec.steps[0]?.kubectl[0] ?? "");
    await until("the operator is refused", () => {
      const end = server.kubectl(
        ["create", "--as=system:serviceaccount:fc-desktop:operator", "--as-group=system:masters", "-f", "-"],
        {
          input: pod("late"),
        },
      );
      if (end.status === 0) server.must(["-n", "fc-desktop", "delete", "pod", "late", "--force", "--grace-period=0"]);
      return when(end.stderr.includes("has no controller owner"));
    });
    await until("the label is seen", () => when(propose({ ...facts.world(), decisions: [] }, settings).length === 1));
    // The server remembers when the label was written. A maker whose pods come long after that is not held by it.
    const namespaces = facts
      .world()
      .namespaces.map((one) =>
        one.name === "fc-desktop" ? { ...one, labelledMs: (one.labelledMs ?? 0) - 300_000 } : one,
      );
    const labelledMs = facts.world().namespaces.find(({ name }) => name === "fc-desktop")?.labelledMs ?? 0;
    expect(Math.abs(systemClock.wallMs() - labelledMs)).toBeLessThan(60_000);
    const [again] = propose({ ...facts.world(), namespaces, decisions: [] }, settings);
    expect(again?.spec.steps[0]).toMatchObject({ stopSource: { way: "Quota" } });
  }, 120_000);

  test("the lines that remove pods remove the very pods of the step, and a pod of the same name is left alone", async () => {
    const text = server.must(["-n", settings.namespace, "get", "decision", "recover-fc-desktop-1", "-o", "json"]);
    const step = parseDecision(JSON.parse(text))?.spec.steps.find(isRemoval);
    expect(step?.targets.length).toBe(podCount);
    // One is replaced meanwhile, by a person.
    server.must(["-n", "fc-desktop", "delete", "pod", "rd-browser-only-7", "--force", "--grace-period=0"]);
    server.must(["create", "-f", "-"], pod("rd-browser-only-7"));
    const [gentle = "", force = ""] = step?.kubectl ?? [];
    run(server, gentle);
    const left = (): string =>
      server.must(["-n", "fc-desktop", "get", "pods", "-o", "jsonpath={.items[*].metadata.name}"]);
    // Without a kubelet they stay Terminating; nothing of them ever ran.
    expect(left().split(" ").length).toBe(podCount + 2);
    run(server, force);
    await until("they are gone", () => when(left().split(" ").length === 3));
    expect(left().split(" ").toSorted()).toEqual(["debug", "rd-browser-only-7", "web"]);
  }, 120_000);
});

const now = "2026-05-10T19:00:00Z";

function long(chars: number): string {
  return "x".repeat(chars);
}

function filled<T>(length: number, make: (index: number) => T): readonly T[] {
  return Array.from({ length }, (_, index) => make(index));
}

function isRemoval(step: Step): step is Extract<Step, { action: "RemovePods" }> {
  return step.action === "RemovePods";
}

function sourceOf(facts: ClusterFacts): RoundSource {
  return {
    isCurrent: () => facts.isCurrent(),
    world: () => facts.world(),
    approvals: () => facts.approvals(),
    policies: () => facts.policies(),
  };
}

/** Runs a line as a person would, as the administrator of this server. A pod that is no longer the same answers 409. */
function run(server: PolicyServer, line: string): void {
  const options = `--server=${server.url} --insecure-skip-tls-verify --token=${adminToken}`;
  const script = `kubectl() { command kubectl ${options} "$@"; }\n${line}`;
  const { stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  const unexpected = stderr.split("\n").filter((text) => text !== "" && !text.includes("does not match the UID"));
  if (unexpected.length > 0) throw new Error(`${line}: ${unexpected.join("\n")}`);
}

/** For `until`, which goes on while it gets nothing. */
function when(isSo: boolean): true | undefined {
  return isSo ? true : undefined;
}

function pod(name: string, label = "app: rd"): string {
  return `apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: fc-desktop, labels: {${label}}}
spec: {nodeName: rke2-agent1, containers: [{name: browser, image: rd:1}]}
`;
}

function owned(name: string): string {
  const owner =
    "{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: 00000000-0000-0000-0000-000000000001, controller: true}";
  return pod(name).replace("labels:", `ownerReferences: [${owner}], labels:`);
}
