// CNI 1.1, section 4: a DEL that fails although nothing is left is no leak. macvlan 1.1 fails so when its master is missing.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "bun:test";
import type { Lab } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import {
  containerId,
  errorOf,
  expectSilence,
  leaks,
  networksAnnotation,
  resultOf,
  startNode,
  type CniError,
} from "./node.ts";

const failsWithoutMaster = "Link not found";

async function macvlan(lab: Lab, master: string): Promise<{ containerId: string; netns: string; args: string }> {
  const ipam = { type: "host-local", dataDir: ipamFolder(lab), ranges: [[{ subnet: "10.251.3.0/24" }]] };
  await lab.network("lan", { cniVersion: "1.0.0", name: "lan", type: "macvlan", master, ipam });
  await lab.pod("web", { [networksAnnotation]: "lan" });
  return { containerId: containerId("mv"), netns: lab.netns("a"), args: lab.podArgs("web") };
}

test("a missing master fails ADD and its undo, and leaves no leak", async () => {
  await using lab = await startNode({ withHand: true });
  const call = await macvlan(lab, "nosuch0");
  const error: CniError = errorOf(await lab.cni("ADD", call));
  expect(error.msg).toBe(`default/lan (net1): ${failsWithoutMaster}`);
  expect(await leftovers(lab)).toEqual([]);
  expect(lab.daemonLog).toContain("A plugin failed to undo, but nothing of it is left");
  expectSilence(await lab.cni("DEL", call));
});

test("without the resident hand addresses cannot be looked at: the leak is gone after the hand's first try", async () => {
  await using lab = await startNode();
  errorOf(await lab.cni("ADD", await macvlan(lab, "nosuch0")));
  expect(await leaks(lab)).toHaveLength(1);
  await lab.startHand();
  await lab.ask({ ask: "leaks", retry: true });
  await lab.until("the leak is resolved", async () => ((await leaks(lab)).length === 0 ? true : undefined));
});

test("a master that is removed later leaves the address, which is a leak until it is freed", async () => {
  const master = `lvm${randomBytes(4).toString("hex")}`;
  await using lab = await startNode({ withHand: true, settings: { delAttemptsMax: 2 } });
  expect(spawnSync("ip", ["link", "add", master, "type", "veth"]).status).toBe(0);
  const call = await macvlan(lab, master);
  resultOf(await lab.cni("ADD", call));
  expect(spawnSync("ip", ["link", "delete", master]).status).toBe(0);
  expect(errorOf(await lab.cni("DEL", call)).msg).toContain(failsWithoutMaster);
  expectSilence(await lab.cni("DEL", call));
  expect(await leaks(lab)).toHaveLength(1);
  const [address = ""] = await addresses(lab);
  await rm(join(ipamFolder(lab), address));
  await lab.ask({ ask: "leaks", retry: true });
  await lab.until("the leak is resolved", async () => ((await leaks(lab)).length === 0 ? true : undefined));
});
