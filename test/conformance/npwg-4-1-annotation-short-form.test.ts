// NPWG 4.1.1: a comma list of [namespace/]name[@interface], attached in the order given.
import { expect, test } from "bun:test";
import { leftovers } from "../lab/leftovers.ts";
import type { CniCall, Lab } from "../lab/lab.ts";
import {
  attachments,
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  resultOf,
  startNode,
  story,
} from "./node.ts";

async function podWith(lab: Lab, annotation: string): Promise<CniCall> {
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.network("dmz", { cniVersion: "1.0.0", ...lab.conf("third") }, "infra");
  await lab.pod("web", { [networksAnnotation]: annotation });
  return { containerId: containerId("short"), netns: lab.netns("a"), args: lab.podArgs("web") };
}

for (const [annotation, expected] of [
  ["lan", ["second net1"]],
  ["lan,infra/dmz", ["second net1", "third net2"]],
  ["infra/dmz,lan", ["third net1", "second net2"]],
  [" lan , infra/dmz@data0 ", ["second net1", "third data0"]],
  ["default/lan@fifteen_chars_x", ["second fifteen_chars_x"]],
  ["lan@a0,infra/dmz", ["second a0", "third net2"]],
  ["", []],
  ["   ", []],
] as const) {
  test(`${JSON.stringify(annotation)} attaches ${expected.length === 0 ? "nothing more" : expected.join(", ")}`, async () => {
    await using lab = await startNode();
    const call = await podWith(lab, annotation);
    resultOf(await lab.cni("ADD", call));
    expect(await story(lab)).toEqual(["ADD first eth0", ...expected.map((step) => `ADD ${step}`)]);
    expectSilence(await lab.cni("DEL", call));
    const detached = (await story(lab)).filter((step) => step.startsWith("DEL"));
    expect(detached).toEqual(["DEL first eth0", ...expected.map((step) => `DEL ${step}`)].toReversed());
    expect(await leftovers(lab)).toEqual([]);
  });
}

for (const annotation of [
  "a@b/c@d/e@f",
  "x@y/z@w@v",
  "root@someIP/root@someOtherIP",
  "default/lan@myIfc Name",
  "default/lan@very_long_interface_name",
  "lan@sixteen_chars_xx",
  "default/net_1",
  "Lan",
  "-lan",
  "../lan",
  "a/b/c",
  "lan@a/b",
]) {
  test(`${JSON.stringify(annotation)} is invalid: code 102, and nothing runs`, async () => {
    await using lab = await startNode();
    const error = errorOf(await lab.cni("ADD", await podWith(lab, annotation)));
    expect(error).toMatchObject({ code: 102, msg: expect.stringContaining("parsePodNetworkAnnotation") });
    expect(await lab.calls()).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
  });
}

for (const annotation of ["lan,", ",lan", "lan,,infra/dmz", "lan,nosuch", "infra/lan"]) {
  test(`${JSON.stringify(annotation)} names a network that is not there: code 101, and nothing runs`, async () => {
    await using lab = await startNode();
    expect(errorOf(await lab.cni("ADD", await podWith(lab, annotation)))).toMatchObject({ code: 101 });
    expect(await lab.calls()).toEqual([]);
    expect(await leftovers(lab)).toEqual([]);
  });
}

test("what is attached is shown by network and interface", async () => {
  await using lab = await startNode();
  resultOf(await lab.cni("ADD", await podWith(lab, "lan,infra/dmz@data0")));
  const [web] = await attachments(lab);
  expect(web?.networks.map(({ network, ifname, isDefault }) => `${network} ${ifname} ${isDefault}`)).toEqual([
    "primary eth0 true",
    "default/lan net1 false",
    "infra/dmz data0 false",
  ]);
});
