import { beforeEach, expect, test } from "bun:test";
import type { StopSourceStep } from "../../decision/step.ts";
import { outage } from "../../outage.fixture.ts";
import { outagePods } from "../../world.fixture.ts";
import { carryOut } from "../carry-out.ts";
import { GuardedServer, refusal } from "../guarded.fixture.ts";
import { planHash } from "../../decision/plan-hash.ts";
import { stopSourceRunner } from "./stop-source.ts";

const namespace = "/api/v1/namespaces/fc-desktop";
const quota = `${namespace}/resourcequotas/levee-ownerless-pods`;
let server: GuardedServer;

beforeEach(() => {
  server = new GuardedServer(["StopSource"]);
  server.seen = outage();
  server.objects.set(namespace, { metadata: { labels: {} } });
  server.answer = ({ method, path }) => {
    if (method === "PATCH" && path === namespace)
      server.objects.set(namespace, { metadata: { labels: { "levee.dev/ownerless-pods": "deny" } } });
    return undefined;
  };
});

async function outcome(eachSecond: (second: number) => void = () => undefined): Promise<string | undefined> {
  let phase: string | undefined;
  void carryOut(server.options({ runners: { StopSource: stopSourceRunner } }), server.decision).then(
    (end) => (phase = end),
  );
  for (let second = 0; phase === undefined && second < 300; second += 1) {
    await server.clock.advance(1_000);
    eachSecond(second);
  }
  return phase;
}

/** The same stop with a quota in place of the label. */
function byQuota(): void {
  const [step] = server.decision.spec.steps as [StopSourceStep];
  const stopSource = { way: "Quota", namespace: "fc-desktop", quota: "levee-ownerless-pods", pods: 14 } as const;
  const spec = { ...server.decision.spec, steps: [{ ...step, stopSource }] };
  server.decision = { ...server.decision, spec: { ...spec, planHash: planHash(spec) } };
  server.approvals = [];
  server.say("Approve");
  server.seen = outage({ isOwnerPolicyInstalled: false });
}

const writes = (): readonly string[] =>
  server.written.filter(({ path }) => path.startsWith(namespace)).map(({ method, path }) => `${method} ${path}`);

test("stopSourceRunner makes a dry run, sets the label, and is done after half a minute without new pods", async () => {
  // A pod created before the policy took effect appears a moment later.
  const late = outagePods(1, { uid: "late", namespace: "fc-desktop" });
  expect(await outcome((second) => second === 1 && (server.seen = outage({ pods: [...outage().pods, ...late] })))).toBe(
    "Succeeded",
  );
  expect(writes()).toEqual([`PATCH ${namespace}?dryRun=All`, `PATCH ${namespace}`]);
});

test("stopSourceRunner pauses when pods still come, whatever the label says", async () => {
  const pods = [...outage().pods];
  const grow = (second: number): void => {
    pods.push(...outagePods(1, { uid: `late-${second}` }));
    server.seen = outage({ pods: [...pods] });
  };
  expect(await outcome(grow)).toBe("Paused");
  expect(server.decision.status?.message).toContain("more pods of this template came within 30 s");
});

test("stopSourceRunner does not mistake a dead watch for a stopped source", async () => {
  const pods = [...outage().pods];
  expect(await outcome((second) => (server.live = pods.concat(outagePods(1, { uid: `late-${second}` }))))).toBe(
    "Paused",
  );
  expect(server.decision.status?.message).toContain("more pods of this template came within 30 s");
});

test("stopSourceRunner does not start without its policy, its namespace or its cause, or after a refused dry run", async () => {
  const again = (): void => {
    server.decision = { ...server.decision, status: { ...server.decision.status!, phase: "Approved" } };
  };
  for (const [words, change] of [
    ["its cause is gone", () => (server.seen = outage({ pods: [] }))],
    ["not installed as shipped", () => (server.seen = outage({ isOwnerPolicyInstalled: false }))],
    [
      "fc-desktop is gone",
      () => {
        server.seen = outage();
        server.objects.delete(namespace);
      },
    ],
    [
      "the dry run was refused: no: 403",
      () => {
        server.objects.set(namespace, { metadata: {} });
        server.answer = ({ path }) => (path.endsWith("?dryRun=All") ? refusal(403) : undefined);
      },
    ],
  ] as const) {
    change();
    expect(await outcome()).toBe("Paused");
    expect(server.decision.status?.message).toContain(words);
    again();
  }
  expect(writes()).toEqual([]);
});

test("stopSourceRunner creates the quota without a policy, and waits until it is in force", async () => {
  byQuota();
  const hard = { hard: { pods: "14" } };
  server.answer = ({ method, path }) => (method === "PATCH" && path.startsWith(quota) ? refusal(404) : undefined);
  expect(await outcome((second) => second === 5 && server.objects.set(quota, { spec: hard, status: hard }))).toBe(
    "Succeeded",
  );
  expect(writes()).toEqual([`POST ${namespace}/resourcequotas?dryRun=All`, `POST ${namespace}/resourcequotas`]);
});

test("stopSourceRunner pauses when no controller counts the quota", async () => {
  byQuota();
  expect(await outcome()).toBe("Paused");
  expect(server.decision.status?.message).toContain("is not in force yet");
});
