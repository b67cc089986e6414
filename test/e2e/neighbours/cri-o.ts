/** The runtime CRI-O in containerd's place. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AttachmentsAnswer } from "../../../src/wire/node-view.ts";
import { conmon, criO } from "../../peers/cri-o.ts";
import { builtFolder } from "../../peers/peer.ts";
import { CrioNode } from "../beside/crio-node.ts";
import { eventsOf, statusOf } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { interfacesIn } from "../networks.ts";
import { surroundings } from "../the-cluster.ts";
import { names, podsOn, theScene } from "../the-levee.ts";
import { until } from "../until.ts";

const six = names("crio", 6);
let crio: CrioNode;

beforeAll(async () => {
  const { cluster } = await theScene();
  const folders = { crio: builtFolder(await criO()), conmon: builtFolder(await conmon()) };
  crio = new CrioNode(cluster, { ...folders, busybox: surroundings().busybox });
  await crio.takeOver();
  await until("the node runs on CRI-O", async () => {
    const node = await cluster.api.get<{ status: { nodeInfo: { containerRuntimeVersion: string } } }>(
      "/api/v1/nodes/levee-e2e",
    );
    return node.status.nodeInfo.containerRuntimeVersion.startsWith("cri-o://") ? true : undefined;
  });
  await cluster.untilNodeReady();
}, 240_000);

afterAll(async () => crio.program.stop());

test("pods have two networks beside their primary one, are told, and leave nothing", async () => {
  const { cluster, levee } = await theScene();
  await cluster.pods.run(podsOn(six, "blue, green"));
  for (const name of six) await untilTold(name);
  const added = await until("the events are there", async () => {
    const found = (await eventsOf(cluster.api, "crio-01")).filter(({ reason }) => reason === "AddedInterface");
    return found.length === 3 ? found : undefined;
  });
  expect(added.map(({ message }) => message.replace(/\[.*\]/u, "[…]")).toSorted()).toEqual([
    "Add eth0 […] from primary",
    "Add net1 […] from default/blue",
    "Add net2 […] from default/green",
  ]);
  await cluster.pods.remove(six);
  await untilNothingIsLeft(levee);
});

test("CRI-O restarts with pods running: it asks for garbage to be collected, and the pods keep their networks", async () => {
  const { cluster, levee } = await theScene();
  await cluster.pods.run(podsOn(six, "blue"));
  const before = levee.daemon.log.length;
  await crio.program.stop();
  await crio.start();
  await until("GC was asked", () => (levee.daemon.log.slice(before).includes('"GC"') ? true : undefined));
  await cluster.untilNodeReady();
  const { attachments } = await levee.ask<AttachmentsAnswer>({ ask: "attachments" });
  expect(new Set(attachments.map(({ pod }) => pod)).size).toBe(6);
  for (const name of six) await untilTold(name);
  await cluster.pods.remove(six);
  await untilNothingIsLeft(levee);
});

/** The network status of a pod says what is in its namespace. */
async function untilTold(name: string): Promise<void> {
  const { cluster } = await theScene();
  await until(`the status of ${name} is right`, async () => {
    const box = crio.sandboxes().find(({ pod }) => pod === name);
    if (box === undefined) throw new Error(`CRI-O has no sandbox of ${name}`);
    const told = statusOf(await cluster.pods.get(name));
    const real = interfacesIn(box.netns);
    expect(told.map(({ interface: ifname, mac, ips }) => ({ ifname, mac, addresses: ips }))).toEqual(
      real.map(({ ifname, mac, addresses }) => ({ ifname, mac, addresses })),
    );
    expect(real.length).toBeGreaterThan(1);
    return true;
  });
}
