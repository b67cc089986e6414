/** ovs-cni and Debian's Open vSwitch, whose datapath is a process here. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openVswitch } from "../../peers/open-vswitch.ts";
import { ovsCni } from "../../peers/ovs-cni.ts";
import { builtFolder } from "../../peers/peer.ts";
import { expectLedgerUntilBack, expectRefusedUntilBack, type Helper } from "../beside/away.ts";
import { allowChecks, checkPod } from "../beside/check-call.ts";
import { callPlugin } from "../beside/cni-call.ts";
import { ovsBridge, OvsNode, ovsSocket } from "../beside/ovs-node.ts";
import { untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, hostLocal, inPod, network, podInterfaces } from "../networks.ts";
import { run } from "../run.ts";
import { surroundings } from "../the-cluster.ts";
import { podsOn, theScene } from "../the-levee.ts";
import { until } from "../until.ts";

const conf = { cniVersion: "1.0.0", type: "ovs", bridge: ovsBridge };
let ovs: OvsNode;

const helper: Helper = {
  network: "red",
  complaint: ovsSocket,
  stop: () => ovs.stopDatabase(),
  start: () => ovs.startDatabase(),
};

beforeAll(async () => {
  const scene = await theScene();
  const { cluster } = scene;
  await allowChecks(scene);
  ovs = new OvsNode(cluster.machine, builtFolder(await openVswitch()));
  await ovs.install(join(builtFolder(await ovsCni()), "ovs"));
  const ipam = hostLocal("10.89.0.0/24");
  await applyNetworks(
    cluster.api,
    network("red", { ...conf, vlan: 100, ipam }),
    // The same addresses in another VLAN.
    network("yellow", { ...conf, vlan: 200, ipam: { ...ipam, dataDir: "/var/lib/cni/yellow" } }),
  );
}, 120_000);

afterAll(() => ovs.stop());

test("pods of one VLAN reach each other and no other one, CHECK finds the ports, and DEL takes them away", async () => {
  const { cluster, levee } = await theScene();
  await cluster.pods.run([...podsOn(["red-1", "red-2"], "red"), ...podsOn(["yellow-1"], "yellow")]);
  for (const pod of ["red-1", "red-2"]) await untilTrueStatus(() => cluster.pods.get(pod), ["default/red"]);
  expect(ovs.ports()).toHaveLength(3);
  expect(ovs.vsctl("--columns=tag", "--bare", "find", "port", "tag=100").match(/100/gu)).toHaveLength(2);
  // One of the two has the address of yellow-1, which would answer itself.
  const own = addressOf("yellow-1");
  const [from, to] = addressOf("red-2") === own ? (["red-2", "red-1"] as const) : (["red-1", "red-2"] as const);
  const address = addressOf(to);
  await until(`${from} reaches ${to}`, () => ping(from, address));
  inPod("yellow-1", "ip", "route", "replace", address, "dev", "net1");
  expect(() => ping("yellow-1", address)).toThrow("failed with 1");
  for (const pod of ["red-1", "red-2", "yellow-1"]) expect(checkPod(pod)).toBeUndefined();
  ovs.vsctl("del-port", ovsBridge, ovs.ports()[0] ?? "");
  expect(["red-1", "red-2", "yellow-1"].map(checkPod).filter((complaint) => complaint !== undefined)).toHaveLength(1);
  await cluster.pods.remove(["red-1", "red-2", "yellow-1"]);
  expect(ovs.ports()).toEqual([]);
  await untilNothingIsLeft(levee);
});

test("the switch's database is away: the pod's event names network and socket, and the pod starts once it is back", async () => {
  await expectRefusedUntilBack(await theScene(), helper);
});

test("the switch's database is away: a pod can go all the same, and its port goes later", async () => {
  await expectLedgerUntilBack(await theScene(), helper);
  expect(ovs.ports()).toEqual([]);
});

/**
 * Why Levee names the namespace of that pod although it is gone: without it the plugin takes away the ports that the
 * switch has marked as broken, and succeeds also when there is none.
 */
test("the plugin by itself: DEL without a namespace succeeds and leaves the port, DEL with one that is gone takes it away", () => {
  for (const name of ["named", "nameless"]) {
    callBare("ADD", name);
    run("ip", "netns", "delete", name);
  }
  expect(ovs.ports()).toHaveLength(2);
  callBare("DEL", "named");
  const left = ovs.ports();
  expect(left).toHaveLength(1);
  callBare("DEL", "nameless", "");
  expect(ovs.ports()).toEqual(left);
});

test("a port that was left goes with the next pod after the switch's restart", async () => {
  await ovs.stopSwitch();
  ovs.startSwitch();
  callBare("ADD", "next");
  callBare("DEL", "next");
  run("ip", "netns", "delete", "next");
  expect(ovs.ports()).toEqual([]);
});

/** Without Levee, for a container in a namespace of the same name. */
function callBare(command: "ADD" | "DEL", name: string, netns = `/run/netns/${name}`): void {
  if (command === "ADD") run("ip", "netns", "add", name);
  const call = { command, containerId: name, netns, ifname: "net1" };
  expect(callPlugin({ ...conf, name: "bare" }, call)).toBeUndefined();
}

function addressOf(pod: string): string {
  return podInterfaces(pod)[1]?.addresses[0] ?? "";
}

/** The reply's text; throws without one. */
function ping(pod: string, address: string): string {
  return inPod(pod, surroundings().busybox, "ping", "-c", "1", "-W", "2", address);
}
