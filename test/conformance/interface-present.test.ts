// An interface name that the namespace has already is refused before any plugin runs, as Multus does.
import { expect, test } from "bun:test";
import { ip } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { attachments, containerId, errorOf, expectSilence, networksAnnotation, resultOf, startNode } from "./node.ts";

test("a pod that wants its network as lo is refused, and nothing is done to lo", async () => {
  await using lab = await startNode();
  await lab.network("tuned", { cniVersion: "1.0.0", name: "tuned", type: "tuning", mtu: 1300 });
  await lab.pod("tuner", { [networksAnnotation]: '[{"name":"tuned","interface":"lo"}]' });
  const netns = lab.netns("a");
  const call = { containerId: containerId("tuner"), netns, args: lab.podArgs("tuner") };
  const error = errorOf(await lab.cni("ADD", call));
  expect(error.code).toBe(103);
  expect(error.msg).toContain("lo");
  expect(error.msg).toContain(netns);
  expect(await lab.calls()).toEqual([]);
  expect(ip(["-n", netns.slice(netns.lastIndexOf("/") + 1), "link", "show", "lo"])).toContain("mtu 65536");
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("the name of an interface that no container owns is refused, and is free again once it is gone", async () => {
  await using lab = await startNode();
  const netns = lab.netns("a");
  const name = netns.slice(netns.lastIndexOf("/") + 1);
  ip(["-n", name, "link", "add", "eth0", "type", "bridge"]);
  const call = { containerId: containerId("late"), netns };
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 103 });
  expect(await lab.calls()).toEqual([]);
  expect(await attachments(lab)).toEqual([]);
  expect(ip(["-n", name, "link", "show", "eth0"])).toContain("eth0");
  ip(["-n", name, "link", "delete", "eth0"]);
  resultOf(await lab.cni("ADD", call));
});

test("a name is found among many interfaces", async () => {
  await using lab = await startNode();
  const netns = lab.netns("a");
  const name = netns.slice(netns.lastIndexOf("/") + 1);
  for (let at = 0; at < 80; at += 1) ip(["-n", name, "link", "add", `d${at}`, "type", "bridge"]);
  ip(["-n", name, "link", "add", "eth0", "type", "bridge"]);
  expect(errorOf(await lab.cni("ADD", { containerId: containerId("many"), netns }))).toMatchObject({ code: 103 });
  ip(["-n", name, "link", "delete", "eth0"]);
  resultOf(await lab.cni("ADD", { containerId: containerId("many"), netns }));
  expect(await lab.calls()).toHaveLength(1);
});
