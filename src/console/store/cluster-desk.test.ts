import { describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { KubeError } from "../../kube/client/api.ts";
import { FakeApi, page } from "../../kube/client/fake-api.fixture.ts";
import { textOf, objectOf } from "../../kube/client/json-fields.ts";
import { fullDecision } from "../../../test/guard/full-decision.ts";
import { ClusterDesk } from "./cluster-desk.ts";

const pod = (name: string, more: object = {}): object => ({
  metadata: {
    ...{ namespace: "shop", name, uid: name, creationTimestamp: "2026-11-18T00:00:00Z", resourceVersion: "2" },
    annotations: { "k8s.v1.cni.cncf.io/networks": "lan" },
  },
  spec: { nodeName: "n2" },
  status: { phase: "Pending" },
  ...more,
});
const node = (name: string, status = "True"): object => ({
  metadata: { name },
  status: { conditions: [{ type: "Ready", status }] },
});
const daemonSet = { metadata: { namespace: "levee-system", name: "levee" } };
const daemonPod = {
  metadata: {
    namespace: "levee-system",
    name: "levee-x",
    uid: "d",
    ownerReferences: [{ kind: "DaemonSet", name: "levee" }],
  },
  spec: { nodeName: "n2", hostNetwork: true },
  status: { phase: "Running" },
};
const gate = {
  metadata: { name: "n2" },
  status: {
    verdict: "Deny",
    observedAt: "2020-01-01T00:00:00Z",
    expiresAt: "2020-01-01T00:02:00Z",
    rebootRequiredSince: "2020-01-01T00:00:00Z",
  },
};
const network = { metadata: { namespace: "shop", name: "lan" }, spec: { config: '{"type":"bridge"}' } };

const lists: Readonly<Record<string, readonly object[]>> = {
  "/api/v1/pods": [pod("web-1"), pod("web-2", { status: { phase: "Running", podIP: "10.0.0.2" } }), daemonPod],
  "/api/v1/nodes": [node("n10"), node("n2"), node("n3", "False")],
  "/apis/apps/v1/daemonsets": [daemonSet],
  "/apis/levee.dev/v1alpha1/namespaces/levee-system/decisions": [fullDecision("q")],
  "/apis/levee.dev/v1alpha1/rebootgates": [gate],
  "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions": [network],
};

async function setUp(refused: Readonly<Record<string, KubeError>> = {}): Promise<{
  readonly api: FakeApi;
  readonly desk: ClusterDesk;
  readonly asked: string[];
  readonly stories: object[];
  [Symbol.asyncDispose](): Promise<void>;
}> {
  const [api, asked, stories] = [new FakeApi(), [] as string[], [] as object[]];
  api.onCall = (url) => {
    const error = refused[url.pathname];
    if (error !== undefined) throw error;
    return page("1", lists[url.pathname] ?? []);
  };
  const desk = new ClusterDesk({
    ...{ api, clock: systemClock, logger: silentLogger, namespace: "levee-system", stepDetails: () => ["a detail"] },
    daemonSet: (item) => {
      const { namespace, name } = objectOf(objectOf(item)["metadata"]);
      return { namespace: textOf(namespace), name: textOf(name), isOurs: name === "levee", isCni: name === "levee" };
    },
    toldDaemons: (item) => textOf(objectOf(item)["told"]).split(","),
    askNode: ({ name }, path) => {
      asked.push(`${name}${path}`);
      if (name === "n3") return Promise.reject(new Error("no answer"));
      const checks = { networks: [{ network: "shop/lan", state: "not-ready", reasons: ["no bridge"] }], checks: [] };
      return Promise.resolve(
        path === "/nodez"
          ? JSON.stringify({ node: { software: "levee 1", notices: [] }, checks })
          : `levee_waiting{kind="attach",class="ordinary"} ${name === "n2" ? 5 : 0}\nlevee_held_pods 1\n`,
      );
    },
    seeAlerts: () => Promise.resolve({ counts: { Some: 2 } }),
    story: (at) => {
      stories.push(at);
      return Promise.resolve(undefined);
    },
    explain: () => undefined,
    history: () => Promise.resolve(undefined),
  });
  desk.start();
  await desk.ready();
  return { api, desk, asked, stories, [Symbol.asyncDispose]: () => desk.close() };
}

/** Waits for what comes a moment later: daemons are asked in the background. */
async function untilSeen<T>(look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 200; tries += 1) {
    const seen = look();
    if (seen !== undefined) return seen;
    await Bun.sleep(25);
  }
  throw new Error("it was not seen");
}

describe("ClusterDesk", () => {
  test("puts the cluster together: nodes in order, pods, gates, networks, Decisions, alerts", async () => {
    await using open = await setUp();
    const parts = await untilSeen(() => {
      const now = open.desk.parts();
      return now.nodes.every(({ heardMs, why }) => heardMs !== undefined || why !== undefined) &&
        now.alerts.firing === 2 &&
        now.storm.points.length > 0
        ? now
        : undefined;
    });
    expect(parts.nodes.map(({ name, state }) => [name, state])).toEqual([
      ["n2", "warning"],
      ["n3", "failed"],
      ["n10", "warning"],
    ]);
    expect(parts.nodes[0]).toMatchObject({
      adds: 5,
      pods: 1,
      gate: "Deny",
      rebootMs: Date.parse("2020-01-01T00:00:00Z"),
    });
    expect(parts.nodes[1]?.why).toEqual(["the node is not ready", "its daemon does not answer: no answer"]);
    expect(parts.storm.waiting).toMatchObject([{ namespace: "shop", pod: "web-1", node: "n2" }]);
    expect(parts.storm.points.at(-1)).toMatchObject({ waiting: 1, attached: 1, byNamespace: { shop: 1 } });
    expect(parts.storm.held).toMatchObject([
      { kind: "pods", count: 1 },
      { kind: "pods", count: 1 },
    ]);
    expect(parts.decisions[0]).toMatchObject({
      name: "q",
      needsPerson: true,
      isIntact: true,
      verdicts: ["approve", "reject"],
    });
    expect(parts.decisions[0]?.steps[0]).toMatchObject({ facts: ["a detail"], phase: "Waiting" });
    expect(parts.networks[0]).toMatchObject({
      name: "shop/lan",
      plugins: ["bridge"],
      pods: 2,
      waiting: 1,
      state: "failed",
    });
    expect(parts.reboots[0]).toMatchObject({ node: "n2", verdict: "Deny", reasons: [{ code: "GateStale" }] });
    expect(parts.sources.filter(({ state }) => state !== "live").map(({ name }) => name)).toEqual([]);
    expect(parts.now.state).toBe("act");
    expect(parts.storm.points.length).toBeGreaterThan(200);
    const bytes = JSON.stringify(parts.decisions).length;
    expect(bytes).toBeLessThan(20_000);
  });

  test("takes one list and one watch per kind, and follows the watch", async () => {
    await using open = await setUp();
    const listed = open.api.calls.map(({ pathname }) => pathname);
    expect(new Set(listed).size).toBe(listed.length);
    expect(new Set(open.api.watches.map(({ url }) => url.pathname)).size).toBe(open.api.watches.length);
    expect(open.desk.pods("late").pods).toEqual([]);
    const watch = await untilSeen(() => open.api.watches.find(({ url }) => url.pathname === "/api/v1/pods"));
    watch.event("ADDED", { ...pod("late"), apiVersion: "v1", kind: "Pod" });
    await untilSeen(() => open.desk.parts().storm.waiting.find((waits) => waits.pod === "late"));
    expect(open.desk.pods("late").pods).toMatchObject([{ pod: "late", state: "waiting" }]);
  });

  test("tells a network's and a node's story, and where a pod's daemon is", async () => {
    await using open = await setUp();
    await untilSeen(() => open.desk.network("shop/lan")?.nodes.find((one) => one.node === "n2"));
    expect(open.desk.network("shop/lan")).toMatchObject({ podsTotal: 2, config: '{"type":"bridge"}' });
    expect(open.desk.network("shop/other")).toBeUndefined();
    expect(await open.desk.node("n2")).toMatchObject({ software: "levee 1", networks: [{ why: "no bridge" }] });
    expect(await open.desk.node("n9")).toBeUndefined();
    await open.desk.pod("shop", "web-1");
    await open.desk.pod("shop", "gone");
    expect(open.stories).toEqual([
      {
        namespace: "shop",
        name: "web-1",
        uid: "web-1",
        node: { name: "n2", address: "" },
        daemon: "levee-system/levee-x",
      },
      { namespace: "shop", name: "gone", uid: "", node: { name: "", address: "" }, daemon: "" },
    ]);
  });

  test("shows what it may see, and names what it may not and what is not there", async () => {
    await using open = await setUp({
      "/api/v1/nodes": new KubeError("api-refused", "nodes is forbidden", { status: 403 }),
      "/api/v1/pods": new KubeError("api-refused", "storage is (re)initializing", { status: 429 }),
      "/apis/levee.dev/v1alpha1/rebootgates": new KubeError("api-refused", "not found", { status: 404 }),
    });
    const { sources, nodes, decisions } = open.desk.parts();
    expect(sources.find(({ name }) => name === "pods")).toMatchObject({ state: "starting" });
    expect(sources.find(({ name }) => name === "nodes")).toMatchObject({
      state: "refused",
      why: expect.stringContaining("forbidden"),
    });
    expect(sources.find(({ name }) => name === "rebootgates")).toMatchObject({ state: "absent", why: "" });
    expect([nodes.length, decisions.length]).toEqual([0, 1]);
  });
});

describe("ClusterDesk over time", () => {
  test("calls its facts old when the watch is cut, and keeps showing them", async () => {
    await using open = await setUp();
    const watch = await untilSeen(() => open.api.watches.find(({ url }) => url.pathname === "/api/v1/pods"));
    for (let times = 0; times < 20; times += 1) open.api.watchErrors.push(new KubeError("api-unreachable", "away"));
    watch.fail(new KubeError("api-unreachable", "cut"));
    const stale = await untilSeen(() =>
      open.desk.parts().sources.find(({ name, state }) => name === "pods" && state === "stale"),
    );
    expect(stale.why).not.toBe("");
    expect(open.desk.pods("web").pods.length).toBe(2);
  });

  test("asks idle nodes seldom and few at a time", async () => {
    await using open = await setUp();
    await untilSeen(() => (open.asked.length >= 5 ? true : undefined));
    await Bun.sleep(1_200);
    expect(open.asked.filter((what) => what === "n10/loadz").length).toBe(0);
    expect(open.asked.filter((what) => what === "n10/metrics").length).toBe(1);
  });
});
