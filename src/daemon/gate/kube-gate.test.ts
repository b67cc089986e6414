import { expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import { KubeError, type KubeRequest } from "../../kube/client/api.ts";
import { projectPod } from "../../kube/watch/project.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import type { GateSource } from "./gate-source.ts";
import { kubeGate } from "./kube-gate.ts";

const status = { verdict: "Allow", observedAt: "2026-05-30T03:40:00Z", expiresAt: "2026-05-30T03:42:00Z" };

const ownerReferences = [{ kind: "DaemonSet", name: "levee-hand", controller: true }];

function pod(name: string, labels: object, changes: object = {}, spec: object = {}): PodFacts {
  const object = { metadata: { name, namespace: "levee-system", uid: `u-${name}`, labels, ...changes }, spec };
  const facts = projectPod(object, new SharedTexts());
  if (facts === undefined) throw new Error("no pod");
  return facts;
}

function gateOf(answer: () => string, pods: readonly PodFacts[] = []): { gate: GateSource; asked: KubeRequest[] } {
  const asked: KubeRequest[] = [];
  const call = (request: KubeRequest): Promise<string> => {
    asked.push(request);
    return Promise.resolve().then(answer);
  };
  const api = { call, lines: () => Promise.reject(new Error("not used")) as never };
  return { gate: kubeGate({ api, nodeName: "n1", namespace: "levee-system", pods: () => pods }), asked };
}

test("kubeGate reads the gate of its node, and takes an absent or strange one for none", async () => {
  const { gate, asked } = gateOf(() => JSON.stringify({ metadata: { name: "n1" }, status }));
  expect(await gate.read()).toMatchObject({ node: "n1", verdict: "Allow" });
  expect(asked.map(({ method, path }) => [method, path])).toEqual([["GET", "/apis/levee.dev/v1alpha1/rebootgates/n1"]]);
  const refuse = (code: number) => (): never => {
    throw new KubeError("api-refused", "no", { status: code });
  };
  expect(await gateOf(refuse(404)).gate.read()).toBeUndefined();
  expect(await gateOf(() => "<html>").gate.read()).toBeUndefined();
  expect(await gateOf(() => "{}").gate.read()).toBeUndefined();
  expect(
    await gateOf(refuse(403))
      .gate.read()
      .catch((thrown: unknown) => thrown),
  ).toBeInstanceOf(KubeError);
});

test("kubeGate finds the open and the missing labels in its own namespace, and closes exactly these", async () => {
  const opened = { "levee.dev/reboot": "allow" };
  const { gate, asked } = gateOf(
    () => "{}",
    [
      pod("levee-1", opened),
      pod("levee-2", { "levee.dev/reboot": "deny" }),
      pod("levee-3", opened, { deletionTimestamp: "2026-05-30T03:40:00Z" }),
      pod("levee-4", opened, { namespace: "tenant" }),
      pod("levee-hand-1", { "levee.dev/reboot": "" }),
      pod("levee-hand-2", {}, { ownerReferences }, { serviceAccountName: "levee-hand" }),
      pod("by-hand", {}, {}, { serviceAccountName: "levee-hand" }),
      pod("web", {}),
    ],
  );
  const open = gate.openPods();
  expect(open.map(({ name }) => name as string)).toEqual(["levee-1", "levee-hand-1", "levee-hand-2"]);
  for (const one of open) await gate.close(one);
  expect(asked.map(({ method, path, body }) => [method, path, body])).toEqual(
    ["levee-1", "levee-hand-1", "levee-hand-2"].map((name) => [
      "PATCH",
      `/api/v1/namespaces/levee-system/pods/${name}/status`,
      JSON.stringify({ metadata: { uid: `u-${name}`, labels: { "levee.dev/reboot": "deny" } } }),
    ]),
  );
});
