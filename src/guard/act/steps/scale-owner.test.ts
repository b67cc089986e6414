import { expect, test } from "bun:test";
import { silentLogger } from "../../../base/log.ts";
import { VirtualClock } from "../../../base/virtual-clock.fixture.ts";
import { KubeError } from "../../../kube/client/api.ts";
import { propose } from "../../decide/propose.ts";
import type { Decision } from "../../decision/decision.ts";
import type { ScaleOwnerStep } from "../../decision/step.ts";
import { defaultGuardSettings as settings } from "../../facts/guard-settings.ts";
import type { World } from "../../facts/world.ts";
import {
  noOwners,
  ownedPods,
  runawayCronJob,
  runawayDeployment,
  runawayJob,
  startedPods,
} from "../../runaway.fixture.ts";
import type { StepContext } from "../step-runner.ts";
import { ObjectServer, rejectionText } from "./repair.fixture.ts";
import { scaleOwnerRunner as runner } from "./scale-owner.ts";
import { worldProblem } from "./verify-world.ts";

const web = "/apis/apps/v1/namespaces/shop/deployments/web";
const nightly = "/apis/batch/v1/namespaces/shop/jobs/nightly";
const tick = "/apis/batch/v1/namespaces/shop/cronjobs/tick";

function object(name: string, spec: object, status: object = {}): object {
  return { metadata: { name, namespace: "shop", uid: `uid-${name}`, generation: 1 }, spec, status };
}

/** A runaway that is being carried out on a server with these objects. */
class Scaling {
  readonly server = new ObjectServer();
  readonly intents: (readonly string[])[] = [];
  readonly clock = new VirtualClock();
  readonly decision: Decision;
  seen: World;

  constructor(seen: World, objects: Readonly<Record<string, object>>) {
    this.seen = seen;
    for (const [path, live] of Object.entries(objects)) this.server.objects.set(path, live);
    const [{ name, spec }] = propose(seen, settings) as unknown as [{ name: string; spec: Decision["spec"] }];
    const metadata = { name, namespace: "levee-system", uid: "uid-decision" };
    const status = { phase: "Running", message: "", fence: 1, leader: "a", since: "" } as const;
    this.decision = { apiVersion: "levee.dev/v1alpha1", kind: "Decision", metadata, spec, status };
  }

  get step(): ScaleOwnerStep {
    const found = this.decision.spec.steps.find((step): step is ScaleOwnerStep => step.action === "ScaleOwner");
    if (found === undefined) throw new Error("the plan scales nothing");
    return found;
  }

  spec(path: string): unknown {
    return (this.server.objects.get(path) as { spec: unknown }).spec;
  }

  context(): StepContext {
    return {
      decision: this.decision,
      reported: {},
      world: () => this.seen,
      api: this.server,
      mayWrite: async () => undefined,
      clock: this.clock,
      logger: silentLogger,
      settings,
      signal: new AbortController().signal,
      report: async () => undefined,
      intend: async (_batch, uids) => void this.intents.push(uids),
      audit: () => undefined,
    };
  }
}

function scalingWeb(live: object = object("web", { replicas: 300 })): Scaling {
  return new Scaling(runawayDeployment(), { [web]: live });
}

test("scaleOwnerRunner makes a dry run, writes its intent, scales once, and gives the line that takes it back", async () => {
  const scaling = scalingWeb();
  const { step } = scaling;
  expect(await runner.precondition(step, scaling.context())).toBeUndefined();
  expect(await runner.rehearse(step, scaling.context())).toBeUndefined();
  expect(scaling.server.writes).toBe(0);
  expect(await runner.perform(step, scaling.context())).toEqual({
    message: "Deployment shop/web is scaled from 300 to 60",
    lines: ["kubectl -n shop scale deployment/web --replicas=300"],
  });
  expect([scaling.spec(web), scaling.intents]).toEqual([{ replicas: 60 }, [["uid-web"]]]);
  // Again, as after a crash or under another leader, when its pods are already gone.
  scaling.seen = runawayDeployment({ pods: [] });
  expect(await runner.precondition(step, scaling.context())).toBeUndefined();
  expect((await runner.perform(step, scaling.context())).message).toContain("was smaller already");
  expect(scaling.server.writes).toBe(1);
});

test("scaleOwnerRunner waits until the controller has fewer pods, and sees who puts it back", async () => {
  const scaling = scalingWeb(object("web", { replicas: 60 }, { replicas: 300 }));
  expect(await runner.check(scaling.step, scaling.context())).toBe("Deployment shop/web still has 300 pods");
  scaling.server.objects.set(web, object("web", { replicas: 60 }, { replicas: 60 }));
  expect(await runner.check(scaling.step, scaling.context())).toBeUndefined();
  scaling.server.objects.set(web, object("web", { replicas: 300 }, { replicas: 300 }));
  expect(await runner.check(scaling.step, scaling.context())).toContain("something puts it back");
});

test.each<[string, object | undefined, Partial<World>, string]>([
  ["a Deployment that is gone", undefined, {}, "is gone"],
  ["one of the same name", { ...object("web", { replicas: 300 }), metadata: { uid: "other" } }, {}, "was replaced"],
  ["another size", object("web", { replicas: 200 }), {}, "is now 200 in size, not 300: another client changed it"],
  ["pods that have started", object("web", { replicas: 300 }), { pods: [] }, "its cause is gone"],
  [
    "an autoscaler that came since",
    object("web", { replicas: 300 }),
    { owners: { ...noOwners, autoscalers: [{ namespace: "shop", name: "h", target: "Deployment/web" }] } },
    "the HorizontalPodAutoscaler h sets the size",
  ],
])("scaleOwnerRunner does not begin with %s", async (_what, live, facts, why) => {
  const scaling = scalingWeb();
  scaling.server.objects.delete(web);
  if (live !== undefined) scaling.server.objects.set(web, live);
  scaling.seen = runawayDeployment(facts);
  expect(await runner.precondition(scaling.step, scaling.context())).toContain(why);
  expect(scaling.server.writes).toBe(0);
});

test("scaleOwnerRunner ends no pods that have started since the proposal, but for a few", async () => {
  const job = new Scaling(runawayJob(), { [nightly]: object("nightly", { parallelism: 500 }) });
  expect(await runner.precondition(job.step, job.context())).toBeUndefined();
  job.seen = runawayJob({}, 1);
  expect(await runner.precondition(job.step, job.context())).toContain("1 of its pods have started by now");
  const scaling = scalingWeb();
  const withMore = (count: number): World =>
    runawayDeployment({ pods: [...runawayDeployment().pods, ...startedPods("ReplicaSet/web-6f9c", count)] });
  scaling.seen = withMore(9);
  expect(await runner.precondition(scaling.step, scaling.context())).toBeUndefined();
  scaling.seen = withMore(10);
  expect(await runner.precondition(scaling.step, scaling.context())).toBe(
    "70 of its pods have started by now, and it would end 10 of them; make it smaller by hand, or reject this Decision",
  );
});

test("scaleOwnerRunner does not begin while it cannot see who would put it back, nor in the middle of a rollout", async () => {
  const scaling = scalingWeb();
  const { owners: _owners, ...unread } = runawayDeployment();
  scaling.seen = unread;
  expect(await runner.precondition(scaling.step, scaling.context())).toContain("cannot read its owners");
  scaling.seen = runawayDeployment({
    pods: [...ownedPods("ReplicaSet/web-7a1b", 240), ...startedPods("ReplicaSet/web-6f9c", 60)],
  });
  expect(await runner.precondition(scaling.step, scaling.context())).toContain("is in the middle of a rollout");
});

test("scaleOwnerRunner does not scale twice after a lost answer, and hears a refusal", async () => {
  const scaling = scalingWeb();
  scaling.server.after = ({ method }) => {
    if (method === "GET") return;
    scaling.server.after = () => undefined;
    throw new KubeError("api-unreachable", "the answer was lost", {});
  };
  const performed = runner.perform(scaling.step, scaling.context());
  await scaling.clock.advance(1_000);
  expect((await performed).message).toContain("was smaller already");
  expect(scaling.server.writes).toBe(1);
  const refused = scalingWeb();
  refused.server.before = ({ method }) => {
    if (method === "PATCH") throw new KubeError("api-refused", "forbidden by a policy", { status: 403 });
  };
  expect(await runner.rehearse(refused.step, refused.context())).toContain("forbidden by a policy");
  expect(await rejectionText(runner.perform(refused.step, refused.context()))).toContain("forbidden by a policy");
});

test("scaleOwnerRunner suspends a Job, and waits for its controller", async () => {
  const scaling = new Scaling(runawayJob(), { [nightly]: object("nightly", { parallelism: 500 }) });
  expect((await runner.perform(scaling.step, scaling.context())).message).toBe("Job shop/nightly is suspended");
  expect(scaling.spec(nightly)).toEqual({ parallelism: 500, suspend: true });
  expect(await runner.check(scaling.step, scaling.context())).toContain("has not suspended it yet");
  const conditions = [{ type: "Suspended", status: "True" }];
  scaling.server.objects.set(nightly, object("nightly", { suspend: true }, { conditions }));
  expect(await runner.check(scaling.step, scaling.context())).toBeUndefined();
});

test("scaleOwnerRunner lowers the parallelism of a Job with running pods", async () => {
  const scaling = new Scaling(runawayJob({}, 40), { [nightly]: object("nightly", { parallelism: 500 }) });
  await runner.perform(scaling.step, scaling.context());
  expect(scaling.spec(nightly)).toEqual({ parallelism: 40 });
  scaling.server.objects.set(nightly, object("nightly", { parallelism: 40 }, { active: 41 }));
  expect(await runner.check(scaling.step, scaling.context())).toBe("Job shop/nightly still has 41 pods");
});

test("scaleOwnerRunner suspends a CronJob and its Jobs by UID, and leaves alone those that were replaced or have started", async () => {
  const path = (name: string): string => `/apis/batch/v1/namespaces/shop/jobs/${name}`;
  const scaling = new Scaling(runawayCronJob({}, 24), {
    [tick]: object("tick", {}),
    [path("tick-000")]: object("tick-000", {}),
    [path("tick-001")]: { metadata: { uid: "other" }, spec: {} },
    [path("tick-002")]: object("tick-002", {}, { ready: 1 }),
    [path("tick-003")]: object("tick-003", { suspend: true }),
    [path("tick-005")]: {
      metadata: { uid: "uid-tick-005", labels: { "kueue.x-k8s.io/queue-name": "batch" } },
      spec: {},
    },
  });
  const result = await runner.perform(scaling.step, scaling.context());
  expect(result.message).toBe("CronJob shop/tick is suspended, with 2 of its Jobs");
  expect(result.leftAlone?.slice(0, 4)).toEqual([
    "Job tick-001: it was replaced",
    "Job tick-002: a pod of it is ready",
    "Job tick-004: it is gone",
    "Job tick-005: Kueue decides when it runs, and would resume it",
  ]);
  // To take it back: the CronJob, and only the Jobs that were suspended.
  expect(result.lines).toEqual([
    `kubectl -n shop patch cronjob tick --type=merge -p '{"spec":{"suspend":false}}'`,
    `for name in tick-000 tick-003; do kubectl -n shop patch job "$name" --type=merge -p '{"spec":{"suspend":false}}'; done`,
  ]);
  expect([scaling.spec(tick), scaling.spec(path("tick-000")), scaling.spec(path("tick-002"))]).toEqual([
    { suspend: true },
    { suspend: true },
    {},
  ]);
  expect(await runner.check(scaling.step, scaling.context())).toBeUndefined();
});

test("a plan of a Job whose pods are of another workload has nothing to scale", () => {
  expect(propose(runawayJob({ pods: ownedPods("Job/nightly", 3) }), settings)).toEqual([]);
});

test("the backlog of a CronJob is not gone while nobody can say whose the pods are", () => {
  const { decision } = new Scaling(runawayCronJob(), {});
  const check = { check: "BacklogGone", namespace: "shop", podsMax: 19 } as const;
  expect(worldProblem(check, runawayCronJob(), decision, settings)).toContain("60");
  const { owners: _owners, ...unread } = runawayCronJob();
  expect(worldProblem(check, unread, decision, settings)).toBe("the guard cannot read whose the pods are now");
});
