// COMPAT 4.1: which pod a call is for, with an API server that is slow, behind, or away.
import { expect, test } from "bun:test";
import { errorOf, networksAnnotation, resultOf, story } from "./node.ts";
import { KubeNode } from "./kube-node.ts";

test("a pod the watch told of is attached without a further question", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web", { [networksAnnotation]: "net-a" });
  resultOf((await node.add("web", { uid: "uid-of-web" })).outcome);
  expect(await story(node.lab)).toEqual(["ADD first eth0", "ADD second net1"]);
  expect(node.api.requests).not.toContain("GET /api/v1/namespaces/default/pods/web");
});

test.each([80, 1_000])("a pod and a network the watch lags behind with are read live over %d ms", async (latencyMs) => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.latencyMs = latencyMs;
  node.api.hidden.add("web").add("net-b");
  node.api.network("net-b", { cniVersion: "1.0.0", ...node.lab.conf("second") });
  node.api.pod("web", { [networksAnnotation]: "net-b" });
  const { outcome, tookMs } = await node.add("web");
  resultOf(outcome);
  expect(await story(node.lab)).toEqual(["ADD first eth0", "ADD second net1"]);
  expect((await node.timeline("web")).join("\n")).toContain("found: the API server was asked for it after");
  expect(tookMs).toBeLessThan(8_000);
});

test("a pod that does not exist is an error at once, never a success", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  const { outcome, tookMs } = await node.add("ghost");
  expect(errorOf(outcome)).toMatchObject({
    code: 100,
    msg: `Cannot find the pod default/ghost: it is neither in the local copy nor on the API server ${node.api.url}, and no annotations came with the call`,
  });
  expect(tookMs).toBeLessThan(4_000);
  expect(await node.lab.calls()).toEqual([]);
});

test("another pod of the name is not taken for the one that was asked for", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web", {}, "u1");
  const { outcome } = await node.add("web", { uid: "u2" });
  expect(errorOf(outcome).msg).toContain('expected pod UID "u2" but got "u1" from Kube API at');
});

test("the runtime's annotations are the selection, and a static pod needs nothing else", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  const conf = node.confWith({ [networksAnnotation]: "net-a", "kubernetes.io/config.source": "file" });
  resultOf((await node.add("static", { uid: "of-kubelet", conf })).outcome);
  expect(await story(node.lab)).toEqual(["ADD first eth0", "ADD second net1"]);
  expect(node.api.requests).not.toContain("GET /api/v1/namespaces/default/pods/static");
});

test("the runtime's annotations win over a view that has others", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("web", {});
  resultOf((await node.add("web", { conf: node.confWith({ [networksAnnotation]: "net-a" }) })).outcome);
  expect(await story(node.lab)).toEqual(["ADD first eth0", "ADD second net1"]);
});

test("with the API server away known pods attach, unknown ones come back later, and STATUS and DEL do not notice", async () => {
  await using node = await KubeNode.start();
  await node.synced();
  node.api.pod("known", { [networksAnnotation]: "net-a" });
  await node.untilInView(1);
  node.api.mood = () => 503;
  node.api.cut();
  const { outcome, call, tookMs } = await node.add("known");
  resultOf(outcome);
  expect(tookMs).toBeLessThan(4_000);
  expect(errorOf((await node.add("unknown")).outcome)).toMatchObject({
    code: 11,
    msg: expect.stringContaining(`the API server ${node.api.url}`),
  });
  resultOf((await node.add("told", { conf: node.confWith({ [networksAnnotation]: "net-a" }) })).outcome);
  expect(
    errorOf((await node.add("net", { conf: node.confWith({ [networksAnnotation]: "net-z" }) })).outcome).code,
  ).toBe(11);
  expect((await node.lab.cni("STATUS", { containerId: "" })).exitCode).toBe(0);
  expect((await node.lab.cni("DEL", call)).exitCode).toBe(0);
});
