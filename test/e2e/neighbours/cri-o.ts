/** The runtime CRI-O in containerd's place. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { AttachmentsAnswer } from "../../../src/wire/node-view.ts";
import { conmon, criO } from "../../peers/cri-o.ts";
import { builtFolder } from "../../peers/peer.ts";
import { allowChecks } from "../beside/check-call.ts";
import { callPlugin } from "../beside/cni-call.ts";
import { CrioNode } from "../beside/crio-node.ts";
import { eventsOf, statusOf } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, bridgeNetwork, hostLocal, interfacesIn, leases, network } from "../networks.ts";
import { generatedConf } from "../node/levee-node.ts";
import { run } from "../run.ts";
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

test("shipped settings: pods have two networks beside their primary one, are told, and leave nothing", async () => {
  const { cluster, levee } = await theScene();
  await cluster.pods.run(podsOn(six, "blue, green"));
  for (const name of six) await untilTold(name, 3);
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

test("a network that does not exist: the pod's event names it, and the pod starts once it does", async () => {
  const { cluster, levee } = await theScene();
  await cluster.pods.create(podsOn(["crio-waits"], "absent"));
  const { message } = await until("the pod is refused", async () =>
    (await eventsOf(cluster.api, "crio-waits")).find(({ reason }) => reason === "FailedCreatePodSandBox"),
  );
  expect(message).toContain("(absent) in namespace (default)");
  await applyNetworks(cluster.api, bridgeNetwork("absent", "10.83.0.0/24"));
  await cluster.pods.untilReady(["crio-waits"]);
  await untilTold("crio-waits", 2);
  await cluster.pods.remove(["crio-waits"]);
  await untilNothingIsLeft(levee);
});

test("CRI-O is killed while it adds pods: they start all the same, and leave nothing", async () => {
  const { cluster, levee } = await theScene();
  const before = served(levee.daemon.log).length;
  await cluster.pods.create(podsOn(six, "slow"));
  await until("the first pod is added", () => served(levee.daemon.log)[before]);
  await cluster.restartContainerd("SIGKILL");
  await cluster.pods.untilReady(six, { timeoutMs: 180_000 });
  for (const name of six) await untilTold(name, 2);
  await cluster.pods.remove(six);
  await untilNothingIsLeft(levee);
});

test("CNI 1.1.0: CRI-O checks each new pod, and after its restart asks for CHECK and GC; the pods keep their networks", async () => {
  const scene = await theScene();
  const { cluster, levee } = scene;
  await allowChecks(scene, "1.1.0");
  await cluster.pods.run(podsOn(six, "blue"));
  expect(checked(levee.daemon.log)).toEqual(six);
  attachAndForget();
  const known = leases().length;
  const before = levee.daemon.log.length;
  await cluster.restartContainerd();
  const gc = await until("GC was asked", () =>
    served(levee.daemon.log.slice(before)).find(({ verb }) => verb === "GC"),
  );
  expect(gc.code).toBe("ok");
  // The one that CRI-O does not know.
  expect(leases()).toHaveLength(known - 1);
  await until("all pods were checked", () => checked(levee.daemon.log.slice(before)).length === 6 || undefined);
  await cluster.untilNodeReady();
  const { attachments } = await levee.ask<AttachmentsAnswer>({ ask: "attachments" });
  expect(attachments.map(({ pod }) => pod).toSorted()).toEqual([...six]);
  for (const name of six) await untilTold(name, 2);
  await cluster.pods.remove(six);
  await untilNothingIsLeft(levee);
});

test("CNI 1.1.0: CRI-O's restart finds a pod that has lost a network, says so, and leaves it running", async () => {
  const { cluster, levee } = await theScene();
  // A bridge with an address keeps its MAC, which its CHECK compares.
  const bridge = { type: "bridge", bridge: "checked0", isGateway: true, ipam: hostLocal("10.82.0.0/24") };
  await applyNetworks(cluster.api, network("checked", { cniVersion: "1.0.0", ...bridge }));
  const two = ["crio-kept", "crio-lost"];
  await cluster.pods.run(podsOn(two, "checked"));
  const boxes = two.map(sandboxOf);
  run("nsenter", `--net=${boxes[1]?.netns ?? ""}`, "ip", "link", "delete", "net1");
  const before = { crio: crio.program.log.length, levee: levee.daemon.log.length };
  await cluster.restartContainerd();
  expect(crio.program.log.slice(before.crio)).toContain("default/checked (net1)");
  expect(checked(levee.daemon.log.slice(before.levee))).toEqual(["crio-kept"]);
  await cluster.pods.untilReady(two);
  expect(two.map(sandboxOf)).toEqual(boxes);
  await cluster.pods.remove(two);
  await untilNothingIsLeft(levee);
});

test("CNI 1.1.0: CRI-O restarts while Levee's daemon is away: it serves soon, and the pods keep their networks", async () => {
  const { cluster, levee } = await theScene();
  await cluster.pods.run(podsOn(six, "blue"));
  await levee.daemon.stop();
  const beganMs = performance.now();
  await cluster.restartContainerd();
  // It waits for GC and for one check after the other, 2 s each.
  expect(performance.now() - beganMs).toBeLessThan(30_000);
  await levee.start();
  await cluster.pods.untilReady(six);
  for (const name of six) await untilTold(name, 2);
  await cluster.pods.remove(six);
  await untilNothingIsLeft(levee);
});

interface Served {
  readonly verb: string;
  readonly pod?: string;
  readonly code: string;
}

/** The calls that a part of Levee's log tells of. */
function served(log: string): readonly Served[] {
  const lines = log.split("\n").filter((line) => line.includes('"verb":') && line.endsWith("}"));
  return lines.map((line) => JSON.parse(line) as Served);
}

/** Pods that CHECK found well. */
function checked(log: string): readonly string[] {
  const calls = served(log).filter(({ verb, code }) => verb === "CHECK" && code === "ok");
  return [...new Set(calls.map(({ pod }) => pod ?? ""))].toSorted();
}

/** A container that no runtime knows, with a namespace that is gone. */
function attachAndForget(): void {
  const conf = JSON.parse(readFileSync(generatedConf, "utf8")) as { type: string }; // as Levee made it
  const netns = "/run/netns/forgotten";
  run("ip", "netns", "add", "forgotten");
  expect(callPlugin(conf, { command: "ADD", containerId: "forgotten", netns, ifname: "eth0" })).toBeUndefined();
  run("ip", "netns", "delete", "forgotten");
}

function sandboxOf(name: string): ReturnType<CrioNode["sandboxes"]>[number] {
  const box = crio.sandboxes().find(({ pod }) => pod === name);
  if (box === undefined) throw new Error(`CRI-O has no sandbox of ${name}`);
  return box;
}

/** The network status of a pod says what is in its namespace. */
async function untilTold(name: string, interfaces: number): Promise<void> {
  const { cluster } = await theScene();
  await until(`the status of ${name} is right`, async () => {
    const told = statusOf(await cluster.pods.get(name));
    const real = interfacesIn(sandboxOf(name).netns);
    expect(told.map(({ interface: ifname, mac, ips }) => ({ ifname, mac, addresses: ips }))).toEqual(
      real.map(({ ifname, mac, addresses }) => ({ ifname, mac, addresses })),
    );
    expect(real).toHaveLength(interfaces);
    return true;
  });
}
