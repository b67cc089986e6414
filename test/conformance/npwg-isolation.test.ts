// NPWG 7.4 as Multus has it: with namespaceIsolation a pod may use networks of its own namespace and of the global ones only.
import { expect, test } from "bun:test";
import type { CniOutcome, Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import {
  containerId,
  defaultNetworkAnnotation,
  errorOf,
  networksAnnotation,
  resultOf,
  startNode,
  story,
} from "./node.ts";

async function attach(lab: Lab, namespace: string, annotations: Readonly<Record<string, string>>): Promise<CniOutcome> {
  for (const home of ["default", "shop", "infra"])
    await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") }, home);
  await lab.pod("web", annotations, namespace);
  return lab.cni("ADD", {
    containerId: containerId("iso"),
    netns: lab.netns("a"),
    args: lab.podArgs("web", namespace),
  });
}

for (const [namespace, network] of [
  ["shop", "lan"],
  ["shop", "shop/lan"],
  ["shop", "default/lan"],
  ["infra", "default/lan"],
] as const) {
  test(`a pod in ${namespace} may use ${network}`, async () => {
    await using lab = await startNode({ settings: { namespaceIsolation: true } });
    resultOf(await attach(lab, namespace, { [networksAnnotation]: network }));
    expect(await story(lab)).toEqual(["ADD first eth0", "ADD second net1"]);
  });
}

test("a pod may not use another namespace's network, and nothing runs", async () => {
  await using lab = await startNode({ settings: { namespaceIsolation: true } });
  const error = errorOf(await attach(lab, "shop", { [networksAnnotation]: "lan,infra/lan" }));
  expect(error).toMatchObject({
    code: 114,
    msg: expect.stringContaining("pod is in namespace shop but refers to target namespace infra"),
  });
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("globalNamespaces replaces the implicit default", async () => {
  await using lab = await startNode({ settings: { namespaceIsolation: true, globalNamespaces: " infra , other" } });
  expect(errorOf(await attach(lab, "shop", { [networksAnnotation]: "default/lan" }))).toMatchObject({ code: 114 });
});

test.each([" ", ",", " , ", "\u0085"])("globalNamespaces of %j opens no namespace, not even default", async (given) => {
  await using lab = await startNode({ settings: { namespaceIsolation: true, globalNamespaces: given } });
  const error = errorOf(await attach(lab, "shop", { [networksAnnotation]: "default/lan" }));
  expect(error).toMatchObject({ code: 114, msg: expect.stringContaining("target namespace default") });
  expect(await lab.calls()).toEqual([]);
});

test("a namespace in globalNamespaces is open", async () => {
  await using lab = await startNode({ settings: { namespaceIsolation: true, globalNamespaces: " infra , other" } });
  resultOf(await attach(lab, "shop", { [networksAnnotation]: "infra/lan" }));
});

test("the default-network annotation is not subject to it", async () => {
  await using lab = await startNode({ settings: { namespaceIsolation: true } });
  resultOf(await attach(lab, "shop", { [defaultNetworkAnnotation]: "infra/lan" }));
  expect(await story(lab)).toEqual(["ADD second eth0"]);
});

test("without namespaceIsolation every network may be used", async () => {
  await using lab = await startNode();
  resultOf(await attach(lab, "shop", { [networksAnnotation]: "infra/lan" }));
});

test("the conf of a call cannot switch it off when the daemon's configuration switches it on", async () => {
  await using lab = await startNode({ settings: { namespaceIsolation: true } });
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") }, "infra");
  await lab.pod("web", { [networksAnnotation]: "infra/lan" }, "shop");
  const call = {
    containerId: containerId("off"),
    netns: lab.netns("a"),
    args: lab.podArgs("web", "shop"),
    conf: lab.shimConf({ namespaceIsolation: false }),
  };
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 114 });
});
