// A user who may only create pods must not be able to slow a network down for others with values that its plugins refuse.
import { expect, test } from "bun:test";
import { realBridge } from "../conformance/bridge.ts";
import { defaultNetworkAnnotation, errorOf, networksAnnotation } from "../conformance/node.ts";
import { ipamFolder } from "../lab/leftovers.ts";
import type { TopAnswer } from "../../src/wire/top-view.ts";
import { AdmissionNode, broken } from "./admission-node.ts";

function lan(members = ""): Readonly<Record<string, string>> {
  return { [networksAnnotation]: `[{"name":"lan"${members}}]` };
}

/** Each element of the annotation is refused by a plugin, or by the kernel when the route is set. */
const refused = [
  ',"bandwidth":{"ingressRate":1000000}',
  ',"bandwidth":{"ingressRate":2000000}',
  ',"ips":["192.0.2.77"]',
  ',"ips":["192.0.2.78"]',
  ',"cni-args":{"ips":5}',
  ',"cni-args":{"ips":[6]}',
  ',"default-route":["203.0.113.1"]',
  ',"default-route":["203.0.113.2"]',
];

test("pods whose values are refused by bridge, host-local or bandwidth do not slow down the others of the network", async () => {
  await using bridge = realBridge("v");
  await using node = await AdmissionNode.start({ addQueueMs: 1_000 });
  const first = { ...bridge.conf("lan", { dataDir: ipamFolder(node.lab) }), capabilities: { ips: true } };
  const plugins = [first, { type: "bandwidth", capabilities: { bandwidth: true } }];
  await node.lab.network("lan", { cniVersion: "1.0.0", name: "lan", plugins });
  for (const [index, members] of refused.entries())
    expect((await node.add(`bad${index}`, { annotations: lan(members) })).exitCode).not.toBe(0);
  expect((await node.lab.ask<TopAnswer>({ ask: "top" })).openNetworks).toEqual([]);
  expect(await node.add("good", { annotations: lan() })).toMatchObject({ exitCode: 0 });
  // The pod that asks for the impossible is held.
  const again = { annotations: lan(refused[0]) };
  await node.add("bad0", { ...again, sandbox: "second" });
  expect(errorOf(await node.add("bad0", { ...again, sandbox: "third" }))).toMatchObject({
    code: 11,
    msg: expect.stringMatching(/^Cannot attach yet: failed 2 times in a row/u),
  });
});

test("pods that choose a default network of their own that fails do not slow down the node's", async () => {
  await using node = await AdmissionNode.start({ addQueueMs: 1_000 });
  await node.lab.network("lan", { cniVersion: "1.0.0", ...node.lab.conf("second") });
  await node.lab.script("second.ADD", broken);
  const annotations = { [defaultNetworkAnnotation]: "default/lan" };
  for (const pod of ["a", "b", "c", "d"])
    expect(errorOf(await node.add(pod, { annotations }))).toMatchObject({
      msg: expect.stringContaining("the switch is away"),
    });
  expect(await node.add("e")).toMatchObject({ exitCode: 0 });
});

test("a network that is broken for pods of two namespaces is recognised although each asks for an address of its own", async () => {
  await using node = await AdmissionNode.start({ addQueueMs: 1_000 });
  await node.lab.network("lan", { cniVersion: "1.0.0", ...node.lab.conf("second"), capabilities: { mac: true } });
  await node.lab.script("second.ADD", broken);
  const mac = (last: number) => ({
    [networksAnnotation]: `[{"name":"lan","namespace":"default","mac":"02:00:00:00:00:0${last}"}]`,
  });
  for (const [index, namespace] of ["default", "shop", "default", "shop"].entries())
    expect(errorOf(await node.add(`p${index}`, { annotations: mac(index), namespace }))).toMatchObject({ code: 11 });
  await node.lab.forgetCalls();
  expect(errorOf(await node.add("last", { annotations: mac(9) }))).toMatchObject({
    msg: expect.stringContaining("network default/lan fails and is tried once in a while"),
  });
  expect(await node.lab.calls()).toEqual([]);
});
