import { expect, test } from "bun:test";
import { KubeError } from "../../../kube/client/api.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { minuteMs, outagePods, stuckPod } from "../../world.fixture.ts";
import { Repair, rejectionText, traefikPath } from "./repair.fixture.ts";
import { restartWorkloadRunner as runner } from "./restart-workload.ts";

const key = "kubectl.kubernetes.io/restartedAt";
const rolledOut = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, observedGeneration: 4 };

function traefik(changes: { uid?: string; spec?: object; annotations?: object; status?: object } = {}): object {
  const { uid = "uid-traefik", spec = {}, annotations, status = rolledOut } = changes;
  const metadata = annotations === undefined ? { labels: { app: "traefik" } } : { annotations };
  const template = { metadata, spec: { volumes: [{ name: "conf", configMap: {} }] } };
  return {
    metadata: { name: "traefik", namespace: "kube-system", uid, generation: 4 },
    spec: { replicas: 2, template, ...spec },
    status,
  };
}

function stuckTraefik(repair: Repair): ClusterPod {
  const boundMs = repair.clock.wallMs() - 10 * minuteMs;
  return stuckPod("traefik-6f9c-x", { namespace: "kube-system", owner: "ReplicaSet/traefik-6f9c", shape: "", boundMs });
}

/** Traefik is stuck after the network came back. */
function stuckAfterwards(live: object | null = traefik()): Repair {
  const repair = new Repair();
  if (live !== null) repair.server.objects.set(traefikPath, live);
  repair.facts = { pods: [stuckTraefik(repair)] };
  return repair;
}

function annotations(repair: Repair): unknown {
  const live = repair.server.objects.get(traefikPath) as { spec: { template: { metadata: { annotations?: object } } } };
  return live.spec.template.metadata.annotations;
}

test("restartWorkloadRunner makes a dry run, writes its intent, sets the annotation once and waits for the new pods", async () => {
  const repair = stuckAfterwards();
  const step = repair.step("RestartWorkload");
  expect(await runner.precondition(step, repair.context())).toBeUndefined();
  expect(await runner.rehearse(step, repair.context())).toBeUndefined();
  expect(annotations(repair)).toBeUndefined();
  expect((await runner.perform(step, repair.context())).message).toContain("was restarted");
  expect(annotations(repair)).toEqual({ [key]: repair.decision.status?.startedAt });
  expect(repair.intents).toEqual([["uid-traefik"]]);
  const patches = repair.server.requests.filter(({ method }) => method === "PATCH");
  expect(patches.map(({ path }) => path)).toEqual([`${traefikPath}?dryRun=All`, traefikPath]);
  expect(JSON.parse(patches[1]?.body ?? "")).toMatchObject([
    { op: "test", path: "/metadata/uid", value: "uid-traefik" },
    { op: "test", path: "/metadata/generation", value: 4 },
    { op: "add" },
  ]);
  expect(await runner.check(step, repair.context())).toBeUndefined();
  // Again, as after a crash or under another leader: the pods may still be the old ones.
  await runner.perform(step, repair.context());
  expect(repair.server.writes).toBe(1);
});

test("restartWorkloadRunner keeps other annotations and an earlier restart's value does not count as its own", async () => {
  const repair = stuckAfterwards(traefik({ annotations: { keep: "1", [key]: "2026-01-01T00:00:00Z" } }));
  await runner.perform(repair.step("RestartWorkload"), repair.context());
  expect(annotations(repair)).toEqual({ keep: "1", [key]: repair.decision.status?.startedAt });
});

test("restartWorkloadRunner does not restart twice after a lost answer, and hears a refusal", async () => {
  const repair = stuckAfterwards();
  const step = repair.step("RestartWorkload");
  let lost = 0;
  repair.server.after = ({ method }) => {
    if (method !== "PATCH" || lost > 0) return;
    lost += 1;
    throw new KubeError("api-unreachable", "the connection was cut");
  };
  const performed = runner.perform(step, repair.context());
  await repair.clock.advance(1_000);
  expect((await performed).message).toContain("was restarted");
  expect(repair.server.writes).toBe(1);
  const refused = stuckAfterwards();
  refused.server.before = ({ method }) => {
    if (method === "PATCH") throw new KubeError("api-refused", "not this week", { status: 403 });
  };
  expect(await runner.rehearse(step, refused.context())).toContain("not this week");
  expect(await rejectionText(runner.perform(step, refused.context()))).toContain("not this week");
});

test("restartWorkloadRunner reads again when another client changes the workload between read and write", async () => {
  const repair = stuckAfterwards();
  let changes = 0;
  repair.server.before = ({ method }) => {
    if (method !== "PATCH" || (changes += 1) > 1) return;
    const live = traefik() as { metadata: object };
    repair.server.objects.set(traefikPath, { ...live, metadata: { ...live.metadata, generation: 5 } });
  };
  const performed = runner.perform(repair.step("RestartWorkload"), repair.context());
  await repair.clock.advance(1_000);
  expect((await performed).message).toContain("was restarted");
});

for (const [what, live, why] of [
  ["was replaced", traefik({ uid: "uid-other" }), "it was replaced"],
  ["is gone", null, "it is gone"],
  ["is paused", traefik({ spec: { paused: true } }), "it is paused"],
  [
    "has the strategy OnDelete",
    traefik({ spec: { updateStrategy: { type: "OnDelete" } } }),
    "its update strategy is OnDelete",
  ],
  [
    "got an attached volume",
    traefik({ spec: { template: { spec: { volumes: [{ name: "acme", persistentVolumeClaim: {} }] } } } }),
    'its volume "acme" is attached to its nodes',
  ],
] as const) {
  test(`restartWorkloadRunner leaves alone a workload that ${what}, and gives the line`, async () => {
    const repair = stuckAfterwards(live);
    const step = repair.step("RestartWorkload");
    expect(await runner.rehearse(step, repair.context())).toBeUndefined();
    const { message, lines } = await runner.perform(step, repair.context());
    expect(message).toContain(`was left alone: ${why}`);
    expect(lines).toEqual(["kubectl -n kube-system rollout restart deployment/traefik"]);
    expect(await runner.check(step, repair.context())).toBeUndefined();
    expect(repair.server.requests.some(({ method }) => method !== "GET")).toBe(false);
  });
}

test("restartWorkloadRunner leaves alone a workload that started by itself", async () => {
  const repair = stuckAfterwards();
  repair.facts = { pods: [] };
  const { message, lines } = await runner.perform(repair.step("RestartWorkload"), repair.context());
  expect(message).toContain("its pods started by themselves");
  expect(lines).toEqual([]);
  expect(repair.server.writes).toBe(0);
});

test("restartWorkloadRunner does not start while the avalanche is there", async () => {
  const repair = stuckAfterwards();
  repair.facts = { pods: [stuckTraefik(repair), ...outagePods(20)] };
  expect(await runner.precondition(repair.step("RestartWorkload"), repair.context())).toContain(
    "the avalanche is still there",
  );
});

for (const [what, status, missing] of [
  ["the controller", { ...rolledOut, observedGeneration: 3 }, "its controller has not yet seen the newest change"],
  ["the newest revision", { ...rolledOut, updatedReplicas: 1 }, "1 of 2 pods have the newest revision"],
  ["the old pods to go", { ...rolledOut, replicas: 3 }, "1 pods of the old revision are still there"],
  ["ready pods", { ...rolledOut, availableReplicas: 0 }, "0 of 2 pods are ready"],
] as const) {
  test(`restartWorkloadRunner waits for ${what}`, async () => {
    const repair = stuckAfterwards(traefik({ status }));
    const step = repair.step("RestartWorkload");
    await runner.perform(step, repair.context());
    expect(await runner.check(step, repair.context())).toBe(`Deployment kube-system/traefik: ${missing}`);
  });
}
