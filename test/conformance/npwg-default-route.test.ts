// NPWG 4.1.2.1.9: default-route names the attachment that carries the pod's default route; all others lose theirs, in the real table.
import { expect, test } from "bun:test";
import { ip, type CniCall, type Lab } from "../lab/lab.ts";
import { filesIn, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge, type RealBridge } from "./bridge.ts";
import {
  containerId,
  errorOf,
  expectSilence,
  networksAnnotation,
  onlyCall,
  resultOf,
  startNode,
  stdinOf,
} from "./node.ts";

/** A node whose default network and whose network `lan` both make a default route in both families. */
async function dualStack(eth0: RealBridge, net1: RealBridge): Promise<Lab> {
  const lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [eth0.conf("primary", { dataDir: ipamFolder(lab), isDefaultRoute: true, withV6: true })],
      }),
  });
  await lab.network("lan", net1.conf("lan", { dataDir: ipamFolder(lab), isDefaultRoute: true, withV6: true }));
  return lab;
}

async function podWith(
  lab: Lab,
  defaultRoute: readonly string[] | undefined,
): Promise<CniCall & { readonly netns: string }> {
  const element = { name: "lan", ...(defaultRoute === undefined ? {} : { "default-route": defaultRoute }) };
  await lab.pod("web", { [networksAnnotation]: JSON.stringify([element]) });
  return { containerId: containerId("route"), netns: lab.netns("a"), args: lab.podArgs("web") };
}

/** A route of `ip -j`; the kernel joins equal IPv6 routes to one with several hops. */
interface Hop {
  readonly gateway?: string;
  readonly dev: string;
  readonly nexthops?: readonly Hop[];
}

/** The default routes in the namespace, as `family gateway device`. */
function defaults(netns: string): readonly string[] {
  const name = netns.slice(netns.lastIndexOf("/") + 1);
  return [4, 6].flatMap((family) => {
    const routes = JSON.parse(ip(["-n", name, "-j", `-${family}`, "route", "show", "default"])) as readonly Hop[];
    return routes
      .flatMap((route) => route.nexthops ?? [route])
      .map(({ gateway, dev }) => `${family} ${gateway ?? "-"} ${dev}`);
  });
}

test("both families move to the chosen network, in the table and in the answer", async () => {
  await using eth0 = realBridge("r");
  await using net1 = realBridge("s");
  await using lab = await dualStack(eth0, net1);
  const call = await podWith(lab, [`${net1.subnet}.1`, `${net1.subnet6}1`]);
  const result = resultOf(await lab.cni("ADD", call));
  expect(defaults(call.netns)).toEqual([`4 ${net1.subnet}.1 net1`, `6 ${net1.subnet6}1 net1`]);
  expect(result.routes ?? []).toEqual([]);
  expectSilence(await lab.cni("CHECK", call));
  const cached = (await filesIn(lab.cniDir)).find((file) => file.includes("/results/lan-"));
  expect(JSON.parse(await Bun.file(cached ?? "").text())).toMatchObject({
    result: {
      routes: [
        { dst: "0.0.0.0/0", gw: `${net1.subnet}.1` },
        { dst: "::/0", gw: `${net1.subnet6}1` },
      ],
    },
  });
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("another gateway than the plugin's own takes its place", async () => {
  await using eth0 = realBridge("r");
  await using net1 = realBridge("s");
  await using lab = await dualStack(eth0, net1);
  const call = await podWith(lab, [`${net1.subnet}.250`]);
  resultOf(await lab.cni("ADD", call));
  expect(defaults(call.netns)).toContain(`4 ${net1.subnet}.250 net1`);
  expect(defaults(call.netns).filter((route) => route.startsWith("4"))).toHaveLength(1);
});

test("a family without a default-route of its own keeps eth0's default", async () => {
  await using eth0 = realBridge("r");
  await using net1 = realBridge("s");
  await using lab = await dualStack(eth0, net1);
  const call = await podWith(lab, [`${net1.subnet}.1`]);
  resultOf(await lab.cni("ADD", call));
  const routes = defaults(call.netns);
  expect(routes.filter((route) => route.startsWith("4"))).toEqual([`4 ${net1.subnet}.1 net1`]);
  expect(routes).toContain(`6 ${eth0.subnet6}1 eth0`);
});

test("an empty list keeps what the chosen network's plugin made, and takes eth0's away", async () => {
  await using eth0 = realBridge("r");
  await using net1 = realBridge("s");
  await using lab = await dualStack(eth0, net1);
  const call = await podWith(lab, []);
  resultOf(await lab.cni("ADD", call));
  expect(defaults(call.netns)).toEqual([`4 ${net1.subnet}.1 net1`, `6 ${net1.subnet6}1 net1`]);
  expectSilence(await lab.cni("CHECK", call));
});

test("without default-route no table is touched", async () => {
  await using eth0 = realBridge("r");
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [eth0.conf("primary", { dataDir: ipamFolder(lab), isDefaultRoute: true, withV6: true })],
      }),
  });
  const call = { containerId: containerId("plain"), netns: lab.netns("a") };
  const result = resultOf(await lab.cni("ADD", call));
  expect(defaults(call.netns)).toEqual([`4 ${eth0.subnet}.1 eth0`, `6 ${eth0.subnet6}1 eth0`]);
  expect(result.routes?.map((route) => route.dst)).toEqual(["0.0.0.0/0", "::/0"]);
});

test("a gateway that cannot be reached fails the ADD, which is undone whole", async () => {
  await using eth0 = realBridge("r");
  await using net1 = realBridge("s");
  await using lab = await dualStack(eth0, net1);
  const call = await podWith(lab, ["192.0.2.77"]);
  const error = errorOf(await lab.cni("ADD", call));
  expect(error).toMatchObject({ code: 108, msg: expect.stringContaining("default/lan (net1)") });
  expect(await leftovers(lab)).toEqual([]);
});

test("a network that reports an interface without a link, as DPDK has it, has no route to lose", async () => {
  await using eth0 = realBridge("r");
  await using net1 = realBridge("s");
  await using lab = await dualStack(eth0, net1);
  await lab.network("dpdk", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.answer(
    "second.ADD",
    '{"cniVersion":"1.0.0","interfaces":[{"name":"net2","mac":"02:00:00:00:00:02","sandbox":"/run/netns/x"}]}',
  );
  const asked = [{ "name": "lan", "default-route": [`${net1.subnet}.1`, `${net1.subnet6}1`] }, { name: "dpdk" }];
  await lab.pod("web", { [networksAnnotation]: JSON.stringify(asked) });
  const call = { containerId: containerId("dpdk"), netns: lab.netns("a"), args: lab.podArgs("web") };
  resultOf(await lab.cni("ADD", call));
  expect(defaults(call.netns)).toEqual([`4 ${net1.subnet}.1 net1`, `6 ${net1.subnet6}1 net1`]);
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
});

test("a gateway on a network without a link fails the ADD, which is undone whole", async () => {
  await using lab = await startNode();
  await lab.network("dpdk", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.script("first.ADD", 'nsenter --net="$CNI_NETNS" ip link add "$CNI_IFNAME" type bridge');
  await lab.pod("web", { [networksAnnotation]: '[{"name":"dpdk","default-route":["10.0.0.1"]}]' });
  const call = { containerId: containerId("none"), netns: lab.netns("a"), args: lab.podArgs("web") };
  const words = "Cannot add the IPv4 default route of net1: No such device";
  expect(errorOf(await lab.cni("ADD", call))).toMatchObject({ code: 108, msg: expect.stringContaining(words) });
  expect(await leftovers(lab)).toEqual([]);
});

test("two gateways of one family, and two elements that each want the route, are refused before anything runs", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  const call = { containerId: containerId("ecmp"), netns: lab.netns("a"), args: lab.podArgs("web") };
  const wishes = [
    [{ "name": "lan", "default-route": ["10.0.0.1", "10.0.0.2"] }],
    [
      { "name": "lan", "default-route": ["10.0.0.1"] },
      { "name": "lan", "default-route": ["10.0.0.2"] },
    ],
    [{ "name": "lan", "default-route": ["nonsense"] }],
  ];
  for (const [index, wish] of wishes.entries()) {
    await lab.pod(`web${index}`, { [networksAnnotation]: JSON.stringify(wish) });
    expect(errorOf(await lab.cni("ADD", { ...call, args: lab.podArgs(`web${index}`) }))).toMatchObject({ code: 102 });
  }
  expect(await lab.calls()).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
});

test("DEL hands the plugins the routes as they are, with all else as they printed it", async () => {
  await using lab = await startNode();
  await lab.network("lan", { cniVersion: "1.0.0", ...lab.conf("second") });
  await lab.pod("web", { [networksAnnotation]: JSON.stringify([{ "name": "lan", "default-route": [] }]) });
  await lab.script("ADD", 'nsenter --net="$CNI_NETNS" ip link add "$CNI_IFNAME" type bridge');
  await lab.answer(
    "first.ADD",
    '{"cniVersion":"1.1.0","ips":[{"address":"10.0.0.2/24"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"10.5.0.0/16","x":1.0}],"own":1.50}',
  );
  const call = { containerId: containerId("del"), netns: lab.netns("a"), args: lab.podArgs("web") };
  expect(resultOf(await lab.cni("ADD", call)).routes).toEqual([{ dst: "10.5.0.0/16" }]);
  expectSilence(await lab.cni("DEL", call));
  const del = await onlyCall(lab, "DEL", "first");
  expect(stdinOf(del)["prevResult"]).toMatchObject({ routes: [{ dst: "10.5.0.0/16", x: 1 }] });
  expect(del.stdin).toContain('"own":1.50');
});
