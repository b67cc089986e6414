import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { LeaksAnswer, TimelineAnswer, TimelineEntry } from "../../../src/wire/node-view.ts";
import { flanneld, flannelPlugin } from "../../peers/flannel.ts";
import { builtFolder } from "../../peers/peer.ts";
import { flannelLeftovers, FlannelNode, subnetFile } from "../beside/flannel-node.ts";
import { statusOf } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { nodeLink } from "../machine.ts";
import { applyNetworks, confFolder, fetchFrom, network, podInterfaces } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { nodes } from "../node/which-node.ts";
import type { PodWish } from "../pods.ts";
import { say } from "../say.ts";
import { SecondNode } from "../second/second-node.ts";
import { surroundings } from "../the-cluster.ts";
import { networksAnnotation, theStoppedScene, type Scene } from "../the-levee.ts";
import { pause, until } from "../until.ts";

const longMs = 300_000;
/** Long enough for the kubelet and Levee to do something that they should not. */
const stillMs = 10_000;
const here = ["here-1", "here-2"];
const there = ["there-1", "there-2"];
const all = [...here, ...there];

let scene: Scene;
let second: SecondNode;
let flannel: FlannelNode;

beforeAll(async () => {
  scene = await theStoppedScene();
  const { cluster, levee } = scene;
  rmSync(join(confFolder, "10-primary.conflist"));
  second = await SecondNode.start(cluster, surroundings());
  say("a second node has joined");
  // The controller manager would do that.
  for (const [index, { name }] of nodes.entries()) {
    const podCIDR = `10.244.${index + 1}.0/24`;
    await cluster.api.patch(`/api/v1/nodes/${name}`, { spec: { podCIDR, podCIDRs: [podCIDR] } });
  }
  // One link layer for both nodes; each pod says which address it wants there.
  const cable = { cniVersion: "1.0.0", type: "macvlan", master: nodeLink, mode: "bridge" };
  await applyNetworks(
    cluster.api,
    network("cable", { ...cable, capabilities: { ips: true }, ipam: { type: "static" } }),
  );
  levee.startPrograms();
  await levee.untilAnswering();
  await second.do("startLevee");
}, longMs);

afterAll(async () => {
  await flannel.stop();
  await second.stop();
});

test(
  "Levee starts before Flannel: pods wait on both nodes, then talk over eth0 and net1",
  async () => {
    const { cluster, levee } = scene;
    await cluster.pods.create(all.map((name, index) => onCable(name, index)));
    await pause(stillMs);
    expect(existsSync(generatedConf)).toBe(false);
    expect(await cluster.isNodeReady()).toBe(false);
    expect(await callsFor("here-1")).toEqual([]);
    say("without a primary network the runtime attaches no pod");

    const folders = { flanneld: builtFolder(await flanneld()), plugin: builtFolder(await flannelPlugin()) };
    flannel = new FlannelNode(cluster, folders);
    await flannel.install();
    await levee.untilServing();
    await second.do("installFlannel", folders);
    await untilToldOf("subnet.env", here);
    expect((await cluster.pods.list()).filter(({ status }) => status?.phase !== "Pending")).toEqual([]);
    expect((await levee.ask<LeaksAnswer>({ ask: "leaks" })).leaks).toEqual([]);
    say("Flannel's conf is there, its daemon is not: no pod runs and nothing leaks");

    const beganMs = performance.now();
    await Promise.all([flannel.start(), second.do("startFlannel")]);
    await cluster.pods.untilReady(all);
    say(`all pods run ${((performance.now() - beganMs) / 1000).toFixed(0)} s after flanneld was started`);
    await expectTrafficBetweenNodes("eth0", /^10\.244\.[12]\./u);
    await expectTrafficBetweenNodes("net1", /^10\.99\.0\./u);
    await untilToldInStatus(["cbr0", "default/cable"]);
    await removeAll();
  },
  2 * longMs,
);

test(
  "with readinessindicatorfile no plugin runs before flanneld has its subnet",
  async () => {
    const { cluster, levee } = scene;
    await flannel.stop();
    levee.configure({ readinessindicatorfile: subnetFile });
    await levee.restart();
    await cluster.pods.create([onCable("early", 0)]);
    await until("the runtime attaches the pod", async () => (await callsFor("early")).length > 0 || undefined);
    await pause(stillMs);
    expect((await callsFor("early")).filter(({ what }) => what === "ran")).toEqual([]);
    await flannel.start();
    await cluster.pods.untilReady(["early"]);
    await cluster.pods.remove(["early"]);
    await untilNothingIsLeft(levee);
    expect(flannelLeftovers()).toEqual([]);
  },
  longMs,
);

function onCable(name: string, index: number): PodWish {
  const wanted = [{ name: "cable", ips: [`10.99.0.${index + 11}/24`] }];
  const node = there.includes(name) ? nodes[1].name : nodes[0].name;
  return { name, node, annotations: { [networksAnnotation]: JSON.stringify(wanted) } };
}

/** Each pod fetches from each pod of the other node. */
async function expectTrafficBetweenNodes(ifname: string, range: RegExp): Promise<void> {
  const addresses = new Map<string, string>();
  for (const pod of all) {
    const links = there.includes(pod) ? await second.do("podInterfaces", pod) : podInterfaces(pod);
    addresses.set(pod, links.find((link) => link.ifname === ifname)?.addresses[0] ?? "");
  }
  for (const address of addresses.values()) expect(address).toMatch(range);
  const fetches = [
    ...here.flatMap((from) => there.map((to) => ({ from, to, fetch: fetchFrom }))),
    ...there.flatMap((from) => here.map((to) => ({ from, to, fetch: fetchThere }))),
  ];
  for (const { from, to, fetch } of fetches) {
    const answer = await until(`${from} reaches ${to} over ${ifname}`, () => fetch(from, addresses.get(to) ?? ""), {
      timeoutMs: 20_000,
      everyMs: 500,
    });
    expect(answer).toBe(to);
  }
  say(`pods of both nodes reach each other over ${ifname}`);
}

function fetchThere(pod: string, address: string): Promise<string> {
  return second.do("fetchFrom", pod, address);
}

async function untilToldInStatus(networks: readonly string[]): Promise<void> {
  await until("the network status of every pod is right", async () => {
    for (const pod of await scene.cluster.pods.list())
      expect(statusOf(pod).map(({ name }) => name)).toEqual([...networks]);
    return true;
  });
}

async function removeAll(): Promise<void> {
  const { cluster, levee } = scene;
  await cluster.pods.remove(all);
  await untilNothingIsLeft(levee);
  expect(flannelLeftovers()).toEqual([]);
  await until("nothing is left on the second node", async () => {
    expect(await second.do("leftovers")).toEqual([]);
    return true;
  });
}

/** `levee why` has the reason of each pod. */
async function untilToldOf(reason: string, pods: readonly string[]): Promise<void> {
  for (const pod of pods)
    await until(`the failure of ${pod} names ${reason}`, async () => {
      const entries = await callsFor(pod);
      return entries.some(({ detail }) => detail?.includes(reason) === true) || undefined;
    });
}

/** What Levee knows of the pod's calls. */
async function callsFor(name: string): Promise<readonly TimelineEntry[]> {
  const { entries } = await scene.levee.ask<TimelineAnswer>({ ask: "timeline", namespace: "default", name });
  return entries.filter(({ containerId }) => containerId !== "");
}
