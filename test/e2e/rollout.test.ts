/**
 * An update of the shipped DaemonSets over thirty nodes, by the real controllers and the real scheduler. docs/scale.md says
 * why a tenth of the nodes at a time.
 */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingForKubeControllers, startKubeControllers, startKubeScheduler } from "./guard/kube-controllers.ts";
import { StandInKubelet } from "./guard/stand-in-kubelet.ts";
import { needsServer } from "./needs-server.ts";
import { PolicyServer } from "./policy-server.ts";
import { releaseText } from "./shipped/release-text.ts";
import { until } from "./until.ts";

const { group, beforeAll, afterAll } = needsServer("rollout", missingForKubeControllers());
const nodes = Array.from({ length: 30 }, (_, at) => `node-${String(at).padStart(2, "0")}`);
const tenth = 3;
const sets = ["levee", "levee-hand"] as const;
const [shipped, good, bad] = ["1", "2", "3"].map((digit) => `levee.dev/levee@sha256:${digit.repeat(64)}`) as [
  string,
  string,
  string,
];

interface ListedPod {
  readonly metadata: {
    readonly ownerReferences?: readonly { readonly name: string }[];
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image: string }[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

group("an update over thirty nodes", () => {
  const stack = new AsyncDisposableStack();
  let server: PolicyServer;

  beforeAll(async () => {
    server = await PolicyServer.start();
    stack.defer(() => server.stop());
    const folder = await mkdtemp(join(tmpdir(), "levee-rollout-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    for (const program of [await startKubeControllers(server, folder), await startKubeScheduler(server, folder)])
      stack.defer(() => program.stop("SIGKILL"));
    const options = { server, cniDaemon: "levee-system/levee", isScheduled: true, badImage: bad };
    const kubelet = new StandInKubelet({ ...options, nodes: nodes.map((name) => ({ name })) });
    await kubelet.start();
    stack.defer(() => kubelet.stop());
    apply(shipped);
    await until("Levee is on every node", async () => (await isEverywhere(shipped)) || undefined);
  }, 180_000);

  afterAll(() => stack.disposeAsync(), 60_000);

  test("replaces a tenth of the nodes at a time, and all of them", async () => {
    apply(good);
    const most = await watchUntil(() => isEverywhere(good));
    expect(most).toEqual({ "levee": tenth, "levee-hand": tenth });
  }, 180_000);

  test("stops at a tenth of the nodes when the new pods do not start, and kubectl rollout undo brings them back", async () => {
    apply(bad);
    const endsMs = performance.now() + 8_000;
    const most = await watchUntil(() => performance.now() > endsMs);
    expect(most).toEqual({ "levee": tenth, "levee-hand": tenth });
    for (const set of sets) expect(await readyNodes(set, good)).toHaveLength(nodes.length - tenth);
    for (const set of sets) server.must(["-n", "levee-system", "rollout", "undo", `daemonset/${set}`]);
    await until("the version before is on every node", async () => (await isEverywhere(good)) || undefined);
  }, 180_000);

  function apply(image: string): void {
    server.must(["apply", "-f", "-"], releaseText("install.yaml").replaceAll(shipped, image));
  }

  /** The most nodes at once that had no ready pod of each DaemonSet. */
  async function watchUntil(isOver: () => Promise<boolean> | boolean): Promise<Record<string, number>> {
    const most: Record<string, number> = { "levee": 0, "levee-hand": 0 };
    await until(
      "the update has come to its end",
      async () => {
        for (const set of sets)
          most[set] = Math.max(most[set] ?? 0, nodes.length - new Set(await readyNodes(set)).size);
        return (await isOver()) || undefined;
      },
      { timeoutMs: 150_000, everyMs: 40 },
    );
    return most;
  }

  async function isEverywhere(image: string): Promise<boolean> {
    const counts = await Promise.all(sets.map(async (set) => (await readyNodes(set, image)).length));
    return counts.every((count) => count === nodes.length);
  }

  async function readyNodes(set: string, image?: string): Promise<readonly string[]> {
    const { text } = await server.ask({ method: "GET", path: "/api/v1/namespaces/levee-system/pods" });
    return (JSON.parse(text) as { items: readonly ListedPod[] }).items // what the API server prints
      .filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === set && metadata.deletionTimestamp === undefined)
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"))
      .filter(({ spec }) => image === undefined || spec.containers[0]?.image === image)
      .map(({ spec }) => spec.nodeName ?? "");
  }
});
