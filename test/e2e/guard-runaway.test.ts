/**
 * Workloads that run away: proposed, approved and stopped by the real guard, with the shipped rights and policies, the real
 * API server and the real controllers. No kubelet starts their pods.
 */
import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Decision } from "../../src/guard/decision/decision.ts";
import { DecisionDesk, writeText } from "./guard/decision-desk.ts";
import { startGuardServer, untilPoliciesCount } from "./guard/guard-server.ts";
import { missingForKubeControllers, startKubeControllers } from "./guard/kube-controllers.ts";
import { needsServer } from "./needs-server.ts";
import { mergePatch, type PolicyServer } from "./policy-server.ts";
import { Program } from "./program.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("guard-runaway", missingForKubeControllers());

const main = join(import.meta.dir, "../../src/main.ts");
const podSpec = (nodeName: string): object => ({
  nodeName,
  restartPolicy: "Never",
  containers: [{ name: "main", image: "example.com/none" }],
});

let server: PolicyServer;
let desk: DecisionDesk;
let folder: string;
const programs: Program[] = [];

beforeAll(async () => {
  server = await startGuardServer({ audit: true });
  folder = await mkdtemp(join(tmpdir(), "levee-runaway-"));
  programs.push(await startKubeControllers(server, folder));
  desk = new DecisionDesk(server);
  for (const name of ["n1", "n2", "n3", "n4"])
    server.must(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name } }));
  for (const name of ["jobs", "web", "tick", "well"]) server.must(["create", "namespace", name]);
  await until("the accounts are made", () =>
    server.kubectl(["-n", "well", "get", "serviceaccount", "default"]).status === 0 ? true : undefined,
  );
  await untilPoliciesCount(server);
}, 120_000);

afterAll(async () => {
  for (const program of programs.toReversed()) await program.stop("SIGKILL");
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

async function startGuard(): Promise<Program> {
  const token = server.must(["-n", "levee-system", "create", "token", "levee-guard", "--duration=1h"]).trim();
  const config = {
    "current-context": "g",
    "contexts": [{ name: "g", context: { cluster: "g", user: "g" } }],
    "clusters": [{ name: "g", cluster: { "server": server.url, "insecure-skip-tls-verify": true } }],
    "users": [{ name: "g", user: { token } }],
  };
  const file = join(folder, "guard-kubeconfig");
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const command = [process.execPath, main, "guard", "--kubeconfig", file, "--stuck-after", "60"];
  const guard = new Program(folder, "guard", { command });
  guard.start();
  programs.push(guard);
  return guard;
}

interface SeenPod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
}

async function podsOf(namespace: string): Promise<readonly SeenPod[]> {
  const { text } = await server.ask({ method: "GET", path: `/api/v1/namespaces/${namespace}/pods` });
  return (JSON.parse(text) as { items: SeenPod[] }).items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
}

async function untilPods(namespace: string, count: number): Promise<readonly SeenPod[]> {
  return until(`${namespace} has ${count} pods`, async () => {
    const pods = await podsOf(namespace);
    return pods.length === count ? pods : undefined;
  });
}

/** As kubelet says of ten pods that their sandbox could not be created. */
async function tellSandboxFailures(namespace: string, node: string): Promise<void> {
  // The first ones are said to run.
  for (const pod of (await podsOf(namespace)).slice(-10)) await tellSandboxFailure(namespace, node, pod);
}

async function tellSandboxFailure(namespace: string, node: string, { metadata }: SeenPod): Promise<void> {
  const { name, uid } = metadata;
  const at = new Date().toISOString();
  const body = {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.1`, namespace },
    involvedObject: { kind: "Pod", namespace, name, uid },
    ...{ reason: "FailedCreatePodSandBox", message: "no", type: "Warning", source: { host: node }, count: 3 },
    ...{ firstTimestamp: at, lastTimestamp: at },
  };
  const path = `/api/v1/namespaces/${namespace}/events`;
  expect(await server.ask({ method: "POST", path, body })).toMatchObject({ code: 201 });
}

/** As kubelet says that a pod runs. */
async function run(namespace: string, pods: readonly SeenPod[]): Promise<void> {
  for (const { metadata } of pods) {
    const path = `/api/v1/namespaces/${namespace}/pods/${metadata.name}/status`;
    const conditions = [{ type: "Ready", status: "True" }];
    const body = { status: { phase: "Running", podIP: "10.0.0.1", podIPs: [{ ip: "10.0.0.1" }], conditions } };
    expect(await server.ask({ method: "PATCH", path, body, type: mergePatch })).toMatchObject({ code: 200 });
  }
}

function makeJob(namespace: string, node: string, parallelism: number): void {
  const spec = { parallelism, completions: 500, template: { spec: podSpec(node) } };
  const body = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "nightly", namespace }, spec };
  server.must(["create", "-f", "-"], JSON.stringify(body));
}

function makeDeployment(node: string): void {
  const labels = { app: "web" };
  const spec = { replicas: 30, selector: { matchLabels: labels } };
  const template = { metadata: { labels }, spec: { ...podSpec(node), restartPolicy: "Always" } };
  const metadata = { name: "web", namespace: "web" };
  const body = { apiVersion: "apps/v1", kind: "Deployment", metadata, spec: { ...spec, template } };
  server.must(["create", "-f", "-"], JSON.stringify(body));
}

/** Eight Jobs of three pods, made of the CronJob as its controller does. */
function makeCronJob(node: string): void {
  const jobTemplate = { spec: { parallelism: 3, completions: 3, template: { spec: podSpec(node) } } };
  const metadata = { name: "tick", namespace: "tick" };
  const spec = { schedule: "0 0 1 1 *", jobTemplate };
  server.must(["create", "-f", "-"], JSON.stringify({ apiVersion: "batch/v1", kind: "CronJob", metadata, spec }));
  for (let index = 0; index < 8; index += 1)
    server.must(["-n", "tick", "create", "job", `tick-${index}`, "--from=cronjob/tick"]);
}

function fieldOf(namespace: string, object: string, path: string): string {
  return server.must(["-n", namespace, "get", object, "-o", `jsonpath=${path}`]);
}

async function decisionIn(namespace: string): Promise<Decision | undefined> {
  return (await desk.all()).find(({ spec, status }) => spec.subject.namespace === namespace && status !== undefined);
}

group("a runaway", () => {
  test("Job is suspended, Deployment scaled to what has started, CronJob suspended with its Jobs; a Job that starts well is left alone", async () => {
    makeJob("jobs", "n1", 30);
    makeDeployment("n2");
    makeCronJob("n3");
    makeJob("well", "n4", 50);
    await untilPods("jobs", 30);
    await run("web", (await untilPods("web", 30)).slice(0, 8));
    await untilPods("tick", 24);
    await run("well", (await untilPods("well", 50)).slice(0, 28));
    for (const [namespace, node] of [
      ["jobs", "n1"],
      ["web", "n2"],
      ["tick", "n3"],
      ["well", "n4"],
    ] as const)
      await tellSandboxFailures(namespace, node);
    const guard = await startGuard();

    for (const namespace of ["jobs", "web", "tick"])
      await until(`${namespace} is proposed`, () => decisionIn(namespace), { timeoutMs: 150_000 }).catch(
        (thrown: unknown) => {
          throw new Error(`${String(thrown)}\n${guard.log}`);
        },
      );
    const all = await desk.all();
    expect(all.map(({ metadata, spec }) => `${metadata.name} ${spec.cause} ${spec.subject.shape}`).toSorted()).toEqual([
      "stop-jobs-1 RunawayWorkload Job/nightly",
      "stop-tick-1 RunawayWorkload CronJob/tick",
      "stop-web-1 RunawayWorkload Deployment/web",
    ]);
    // Nothing is done before a person has said so.
    expect((await desk.guardDeeds()).map(writeText)).toEqual([]);
    expect([fieldOf("web", "deployment/web", "{.spec.replicas}"), (await podsOf("jobs")).length]).toEqual(["30", 30]);

    for (const name of ["stop-jobs-1", "stop-web-1", "stop-tick-1"]) await desk.say(name, "Approve");
    for (const name of ["stop-jobs-1", "stop-web-1", "stop-tick-1"])
      await desk.untilPhase(name, "Succeeded", 120_000).catch((thrown: unknown) => {
        throw new Error(`${String(thrown)}\n${guard.log}`);
      });

    expect(fieldOf("jobs", "job/nightly", "{.spec.suspend}")).toBe("true");
    expect(fieldOf("web", "deployment/web", "{.spec.replicas}")).toBe("8");
    expect(fieldOf("tick", "cronjob/tick", "{.spec.suspend}")).toBe("true");
    expect(fieldOf("tick", "jobs", "{.items[*].spec.suspend}")).toBe(Array(8).fill("true").join(" "));
    // The controllers took the pods that do not run, and none of those that do.
    expect([await untilPods("jobs", 0), await untilPods("tick", 0)]).toEqual([[], []]);
    await untilPods("web", 8);
    const running = server.must(["-n", "web", "get", "pods", "-o", "jsonpath={.items[*].status.phase}"]);
    expect(running.split(" ").filter((phase) => phase === "Running")).toHaveLength(8);
    expect((await podsOf("well")).length).toBe(50);
    expect((await desk.guardDeeds()).map(writeText).toSorted()).toEqual(
      [
        ...Array.from({ length: 8 }, (_, index) => `patch jobs tick/tick-${index}`),
        "patch cronjobs tick/tick",
        "patch deployments web/web",
        "patch jobs jobs/nightly",
      ].toSorted(),
    );

    // The undo line of the step sets it back, by a person.
    const { steps } = (await desk.one("stop-web-1")).spec;
    const undo = steps.find(({ action }) => action === "ScaleOwner")?.kubectl.at(-1) ?? "";
    expect(undo).toBe("kubectl -n web scale deployment/web --replicas=30");
    server.must(undo.split(" ").slice(1));
    expect(fieldOf("web", "deployment/web", "{.spec.replicas}")).toBe("30");
  }, 400_000);
});
