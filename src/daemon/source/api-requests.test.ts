/** What one node may ask of the API server, counted. docs/scale.md has the sum for a large cluster. */
import { expect, test } from "bun:test";
import type { ContainerId, Namespace, PodName, PodUid } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import { KubeError, type FollowableApi, type KubeRequest, type LinesOptions } from "../../kube/client/api.ts";
import { page } from "../../kube/client/fake-api.fixture.ts";
import { ManualClock, settleIo } from "../../kube/manual-clock.fixture.ts";
import { ClusterView } from "../../kube/watch/cluster-view.ts";
import type { ClaimView } from "../../view/claim-view.ts";
import { KubeEventTeller } from "../tell/kube-event-teller.ts";
import { KubeStatusTeller } from "../tell/kube-status-teller.ts";
import { kubeView } from "./kube-view.ts";

const hourMs = 3_600_000;
const namespace = "default" as Namespace;
const noClaims: ClaimView = {
  claim: () => Promise.reject(new Error("not asked")),
  published: () => Promise.reject(new Error("not asked")),
};

/** Counts requests by kind, and ends every watch in its time. */
class CountingServer implements FollowableApi {
  readonly asked = new Map<string, number>();
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  call({ method, path }: KubeRequest): Promise<string> {
    this.#count(`${method} ${path.includes("/events") ? "event" : "object"}`);
    return method === "GET"
      ? Promise.reject(new KubeError("api-refused", "none", { status: 404 }))
      : Promise.resolve("{}");
  }

  async items(path: string): Promise<string> {
    const { searchParams } = new URL(path, "http://localhost");
    const isCached = searchParams.has("resourceVersion") && !searchParams.has("limit");
    this.#count(isCached ? "list from the cache" : "list from etcd");
    return JSON.stringify(page("1", []));
  }

  async *lines(path: string, { signal, onOpen }: LinesOptions): AsyncGenerator<string> {
    const { searchParams } = new URL(path, "http://localhost");
    this.#count(searchParams.has("sendInitialEvents") ? "streamed list" : "watch");
    if (searchParams.has("sendInitialEvents")) throw new KubeError("api-refused", "not offered", { status: 422 });
    onOpen?.();
    await this.#clock.sleep(Number(searchParams.get("timeoutSeconds")) * 1000, signal);
    yield JSON.stringify({ type: "BOOKMARK", object: { metadata: { resourceVersion: "1" } } });
  }

  #count(what: string): void {
    this.asked.set(what, (this.asked.get(what) ?? 0) + 1);
  }
}

async function node(): Promise<{ clock: ManualClock; server: CountingServer; cluster: ClusterView }> {
  const clock = new ManualClock();
  // The middle of every jitter.
  clock.chance = 0.5;
  const server = new CountingServer(clock);
  const cluster = new ClusterView({ api: server, clock, logger: silentLogger, nodeName: "node-1" });
  await settleIo();
  return { clock, server, cluster };
}

test("a node that starts asks for two lists, from the server's memory", async () => {
  const { server, cluster } = await node();
  expect(Object.fromEntries(server.asked)).toEqual({ "streamed list": 2, "list from the cache": 2, "watch": 2 });
  await cluster.close();
});

test("a node at rest asks 18 times an hour, and never etcd", async () => {
  const { clock, server, cluster } = await node();
  server.asked.clear();
  for (let hour = 0; hour < 24; hour += 1) await clock.advance(hourMs);
  await cluster.close();
  expect(server.asked.get("list from the cache")).toBe(2 * 24);
  expect([...server.asked.keys()].toSorted()).toEqual(["list from the cache", "watch"]);
  const anHour = [...server.asked.values()].reduce((sum, count) => sum + count, 0) / 24;
  expect(anHour).toBeWithin(16, 19);
});

test("a read that is given up gives its turn back, and networks do not keep back pods", async () => {
  const { clock, server, cluster } = await node();
  const { live } = kubeView(cluster, { server: "the server", clock, claims: noClaims });
  const read = (name: string, signal: AbortSignal): Promise<unknown> =>
    live?.readNetwork(namespace, name, signal) ?? Promise.reject(new Error("no live view"));
  server.asked.clear();
  const giveUp = new AbortController();
  const reads = Array.from({ length: 400 }, (_, at) => read(`n-${at}`, giveUp.signal));
  await settleIo();
  expect(server.asked.get("GET object")).toBe(256);
  giveUp.abort(new Error("given up"));
  expect((await Promise.allSettled(reads)).filter(({ status }) => status === "rejected").length).toBe(144);
  const { signal } = new AbortController();
  await live?.readPod(namespace, "pod" as PodName, signal);
  await clock.advance(1_000);
  const next = Array.from({ length: 10 }, (_, at) => read(`m-${at}`, signal));
  await Promise.all(next);
  await cluster.close();
});

test("a storm of calls cannot make a node ask more than its pace allows", async () => {
  const { clock, server, cluster } = await node();
  const view = kubeView(cluster, { server: "the server", clock, claims: noClaims });
  const statusTeller = new KubeStatusTeller({
    api: server,
    view,
    clock,
    logger: silentLogger,
    onFate: () => undefined,
  });
  const eventTeller = new KubeEventTeller({
    api: server,
    clock,
    logger: silentLogger,
    nodeName: "n",
    onOutcome: () => undefined,
  });
  server.asked.clear();
  const signal = new AbortController().signal;
  for (let second = 0; second < 60; second += 1) {
    for (let call = 0; call < 50; call += 1) {
      const name = `pod-${second}-${call}` as PodName;
      const pod = { namespace, name, uid: name as string as PodUid };
      void statusTeller.tell({ pod, containerId: name as string as ContainerId, annotation: "[]" });
      eventTeller.aboutPod(pod, { type: "Normal", reason: "AddedInterface", message: name });
      void view.live?.readNetwork(namespace, name, signal);
    }
    await clock.advance(1000);
  }
  const asked = Object.fromEntries(server.asked);
  // The burst, and what a minute refills; events wait while pods start.
  expect(asked["PATCH object"]).toBeWithin(1_000, 512 + 600 + 1);
  expect(asked["POST event"]).toBeWithin(70, 20 + 60 + 1);
  expect(asked["GET object"]).toBeWithin(800, 256 + 600 + 1);
  await statusTeller.close();
  eventTeller.close();
  await cluster.close();
});
