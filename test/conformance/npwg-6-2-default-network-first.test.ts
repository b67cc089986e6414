// NPWG 6.2 and Multus' default-network annotation: the default network comes first, on the runtime's interface, and its result is the answer.
import { expect, test } from "bun:test";
import type { CniCall, Lab } from "../lab/lab.ts";
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

async function podWith(lab: Lab, annotations: Readonly<Record<string, string>>): Promise<CniCall> {
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.network("blue", { cniVersion: "1.0.0", ...lab.conf("third") }, "kube-system");
  await lab.network("green", { cniVersion: "1.0.0", ...lab.conf("fourth") }, "infra");
  await lab.pod("web", annotations);
  return { containerId: containerId("first"), netns: lab.netns("a"), args: lab.podArgs("web"), ifname: "ether7" };
}

test("the default network takes the runtime's interface name, and only its result is answered", async () => {
  await using lab = await startNode();
  await lab.answer("second.ADD", '{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.8/24"}]}');
  const result = resultOf(await lab.cni("ADD", await podWith(lab, { [networksAnnotation]: "lan" })));
  expect(await story(lab)).toEqual(["ADD first ether7", "ADD second net1"]);
  expect(result.ips?.map((address) => address.address)).toEqual(["10.9.0.2/24"]);
});

for (const [annotation, plugin] of [
  ["blue", "third"],
  ["infra/green", "fourth"],
  ['[{"name":"blue"}]', "third"],
] as const) {
  test(`the annotation ${annotation} puts another network in its place`, async () => {
    await using lab = await startNode();
    resultOf(
      await lab.cni("ADD", await podWith(lab, { [defaultNetworkAnnotation]: annotation, [networksAnnotation]: "lan" })),
    );
    expect(await story(lab)).toEqual([`ADD ${plugin} ether7`, "ADD second net1"]);
  });
}

for (const [annotation, code] of [
  ["", 102],
  ["[]", 102],
  ["blue,blue", 102],
  ["[null]", 102],
  ["nosuch", 101],
  ["lan", 101],
] as const) {
  test(`the annotation ${JSON.stringify(annotation)} is refused with ${code}, and nothing runs`, async () => {
    await using lab = await startNode();
    expect(errorOf(await lab.cni("ADD", await podWith(lab, { [defaultNetworkAnnotation]: annotation })))).toMatchObject(
      { code },
    );
    expect(await lab.calls()).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
  });
}
