/** The policies for everybody on a real API server: ownerless pods, and daemons that speak for their own node. */
import { expect, test } from "bun:test";
import { makePod, podBody, startGuardServer, untilAnswer, type ShortPod } from "./guard/guard-server.ts";
import { mergePatch, type Answer, type Ask, type PolicyServer } from "./policy-server.ts";
import { needsServer } from "./needs-server.ts";

const { group, beforeAll, afterAll } = needsServer("guard-prevents");

const operator = { user: "system:serviceaccount:fc:operator" };
const controllers = { user: "system:serviceaccount:kube-system:replicaset-controller" };
const human = { user: "alice", group: "sre" };
const kubelet = { user: "system:node:n1", group: "system:nodes" };
const owner = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: "o",
  uid: "00000000-0000-4000-8000-000000000000",
};
const mirror = { "kubernetes.io/config.mirror": "1", "kubernetes.io/config.hash": "1" };

let server: PolicyServer;

function make(pod: ShortPod, as: Ask["as"]): Promise<Answer> {
  const path = `/api/v1/namespaces/${pod.namespace ?? "fc"}/pods?dryRun=All`;
  return server.ask({ method: "POST", path, body: podBody(pod), ...(as === undefined ? {} : { as }) });
}

beforeAll(async () => {
  server = await startGuardServer();
  for (const [name, labels] of [
    ["fc", []],
    ["strict", ["levee.dev/ownerless-pods=deny"]],
    ["ci", ["levee.dev/ownerless-pods=allow"]],
  ] as const) {
    server.must(["create", "namespace", name]);
    if (labels.length > 0) server.must(["label", "namespace", name, ...labels]);
  }
  const who = [operator, controllers, human, kubelet].map(({ user }) => `--user=${user}`);
  server.must(["create", "clusterrole", "pods", "--verb=create,patch", "--resource=pods,namespaces"]);
  server.must(["create", "clusterrolebinding", "pods", "--clusterrole=pods", ...who]);
  const path = "/api/v1/namespaces/strict/pods?dryRun=All";
  const body = podBody({ name: "probe", namespace: "strict" });
  await untilAnswer(server, { method: "POST", path, body, as: operator }, ({ code }) => code === 422);
  const probe = { name: "probe" };
  await untilAnswer(
    server,
    { method: "POST", path: path.replace("strict", "fc"), body: podBody(probe), as: operator },
    ({ warning = "" }) => warning !== "",
  );
}, 120_000);

afterAll(() => server.stop());

group("levee-pods-need-a-controller-owner", () => {
  const reason = { "levee.dev/ownerless-reason": "a browser session that ends by itself" };
  test.each<[string, Partial<ShortPod>, Ask["as"], boolean]>([
    ["an operator's pod without an owner", {}, operator, true],
    ["an operator's pod with a controller as owner", { owners: [{ ...owner, controller: true }] }, operator, false],
    ["an operator's pod whose owner is no controller", { owners: [owner] }, operator, true],
    ["an operator's pod that says why", { annotations: reason }, operator, false],
    ["an operator's pod that gives no reason", { annotations: { "levee.dev/ownerless-reason": "" } }, operator, true],
    ["a person's pod", {}, human, false],
    ["a mirror pod", { node: "n1", annotations: mirror }, kubelet, false],
    ["a pod of the ReplicaSet controller", { owners: [{ ...owner, controller: true }] }, controllers, false],
  ])("%s", async (_what, pod, as, isMeant) => {
    const words = "has no controller owner: nothing will ever delete it";
    const warned = await make({ name: "a", ...pod }, as);
    expect([warned.code, warned.warning?.includes(words)]).toEqual([201, isMeant]);
    const denied = await make({ name: "a", namespace: "strict", ...pod }, as);
    expect([denied.code, denied.text.includes(words)]).toEqual(isMeant ? [422, true] : [201, false]);
    expect(await make({ name: "a", namespace: "ci", ...pod }, as)).toMatchObject({ code: 201, warning: "" });
  });

  test("a label stops the source at once, and taking it away lets it go on", async () => {
    server.must(["create", "namespace", "avalanche"]);
    const path = "/api/v1/namespaces/avalanche";
    for (const [value, code] of [
      ["deny", 422],
      [null, 201],
    ] as const) {
      const body = { metadata: { labels: { "levee.dev/ownerless-pods": value } } };
      expect(await server.ask({ method: "PATCH", path, body, type: mergePatch })).toMatchObject({ code: 200 });
      const pod = podBody({ name: "next", namespace: "avalanche" });
      const ask: Ask = { method: "POST", path: `${path}/pods?dryRun=All`, body: pod, as: operator };
      await untilAnswer(server, ask, (answer) => answer.code === code);
    }
  });

  test("pods that were there before the label stay", async () => {
    server.must(["create", "namespace", "older"]);
    await makePod(server, { name: "old", namespace: "older" });
    server.must(["label", "namespace", "older", "levee.dev/ownerless-pods=deny"]);
    const path = "/api/v1/namespaces/older/pods/old";
    const change: Ask = { method: "PATCH", path, body: { metadata: { labels: { a: "b" } } }, type: mergePatch };
    expect(await server.ask({ ...change, as: operator })).toMatchObject({ code: 200 });
  });
});

group("levee-daemon-speaks-for-its-node", () => {
  let token = "";

  beforeAll(async () => {
    server.must(["create", "serviceaccount", "levee", "-n", "levee-system"]);
    server.must(["create", "clusterrole", "events", "--verb=create,patch", "--resource=events"]);
    const account = "--serviceaccount=levee-system:levee";
    server.must(["create", "clusterrolebinding", "events", "--clusterrole=events", account]);
    for (const name of ["n1", "n2"])
      server.must(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name } }));
    await makePod(server, { name: "daemon", namespace: "levee-system", node: "n1", account: "levee" });
    token = server.tokenOf({ namespace: "levee-system", name: "daemon", account: "levee" });
  }, 60_000);

  const events = "/api/v1/namespaces/fc/events";

  function event(name: string, host: string, reportingInstance = host): object {
    const about = { apiVersion: "v1", kind: "Pod", namespace: "fc", name: "web" };
    const source = { component: "levee", host };
    const common = { metadata: { name, namespace: "fc" }, involvedObject: about, reason: "R", message: "m" };
    return { apiVersion: "v1", kind: "Event", ...common, source, reportingComponent: "levee", reportingInstance };
  }

  test("an event of its own node is taken, and counted on", async () => {
    expect(await server.ask({ method: "POST", path: events, body: event("own", "n1"), token })).toMatchObject({
      code: 201,
    });
    const again = { method: "PATCH", path: `${events}/own`, body: { count: 2 }, type: mergePatch, token } as const;
    expect(await server.ask(again)).toMatchObject({ code: 200 });
  });

  test("an event of another node is refused, and so is a change of another's", async () => {
    for (const body of [event("x", "n2"), event("x", "n1", "n2"), event("x", "n2", "n1"), event("x", "")]) {
      const { code, text } = await server.ask({ method: "POST", path: events, body, token });
      expect([code, text]).toEqual([403, expect.stringContaining("tells of its own node only") as string]);
    }
    expect(await server.ask({ method: "POST", path: events, body: event("theirs", "n2") })).toMatchObject({
      code: 201,
    });
    const change = { message: "m", source: { host: "n1" }, reportingInstance: "n1" };
    const ask = { method: "PATCH", path: `${events}/theirs`, body: change, type: mergePatch, token } as const;
    expect(await server.ask(ask)).toMatchObject({ code: 403 });
  });

  test("a token that is bound to no pod says nothing", async () => {
    const loose = server.must(["create", "token", "levee", "-n", "levee-system"]).trim();
    const { code, text } = await server.ask({ method: "POST", path: events, body: event("x", "n1"), token: loose });
    expect([code, text]).toEqual([403, expect.stringContaining("names no node") as string]);
  });
});
