// A user who may only create pods must not be able to use up a network's addresses with requests that its plugins refuse.
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { containerId, leaks, networksAnnotation, startNode } from "../conformance/node.ts";
import { realBridge, type RealBridge } from "../conformance/bridge.ts";
import type { Lab } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";

const podCount = 200;
const atOnce = 4;

/** What the pods ask for, as members of the selection element. None of them can be attached. */
const refused = [
  '"bandwidth":{"ingressRate":1000000}',
  '"bandwidth":{"ingressBurst":1000000}',
  '"bandwidth":{"egressRate":1000000}',
  '"bandwidth":{"egressRate":1000000,"egressBurst":1000000,"ingressRate":5}',
  '"bandwidth":{"ingressRate":1000000,"ingressBurst":40000000000}',
  '"bandwidth":{"ingressRate":1000000,"ingressBurst":1000000,"INGRESSRATE":"x"}',
  '"bandwidth":{"INGRESSRATE":1000000}',
  '"bandwidth":{"ingressRate":1e6,"ingressBurst":1000000}',
  '"portMappings":[{"hostPort":18090.0,"containerPort":80}]',
  '"portMappings":[{"hostPort":18090,"containerPort":8e1}]',
  '"portMappings":[{"hostPort":18090,"containerPort":80,"HOSTIP":5}]',
  '"portMappings":[{"hostPort":18090,"containerPort":80,"Protocol":7}]',
  '"portMappings":[{"hostPort":18090,"containerPort":80,"CONTAINERPORT":-1}]',
  '"cni-args":{"ips":5}',
  '"cni-args":{"ips":["none"]}',
  '"ips":["10.0.0.1","10.0.0.2"]',
  '"ips":["192.0.2.77"]',
  '"mac":"01:00:5e:00:00:01"',
  '"default-route":["203.0.113.1"]',
  '"portMappings":[{"hostPort":18090,"containerPort":80}],"bandwidth":{"egressRate":8}',
];

async function eachAtOnce(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

async function startShop(bridge: RealBridge): Promise<Lab> {
  const lab = await startNode({ withHand: true });
  const first = { ...bridge.conf("shop", { dataDir: ipamFolder(lab) }), capabilities: { mac: true, ips: true } };
  const plugins = [
    first,
    { type: "portmap", capabilities: { portMappings: true } },
    { type: "bandwidth", capabilities: { bandwidth: true } },
  ];
  await lab.network("shop", { cniVersion: "1.0.0", name: "shop", plugins });
  return lab;
}

function portsOf(bridge: RealBridge): readonly string[] {
  const { stdout } = spawnSync("ip", ["-o", "link", "show", "master", bridge.device], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line !== "");
}

/** Rules of portmap that lead to an address of the bridge. */
function rulesOf(bridge: RealBridge): readonly string[] {
  const { stdout } = spawnSync("iptables-save", ["-t", "nat"], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes(bridge.subnet));
}

test(`${podCount} pods with requests that plugins refuse lose no address and no interface, and leave no leak`, async () => {
  await using bridge = realBridge("x");
  await using lab = await startShop(bridge);
  const attached: string[] = [];
  await eachAtOnce(podCount, async (index) => {
    const members = refused[index % refused.length] ?? "";
    const name = `pod${index}`;
    await lab.pod(name, { [networksAnnotation]: `[{"name":"shop",${members}}]` });
    const call = { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs(name) };
    if ((await lab.cni("ADD", call)).exitCode === 0) attached.push(members);
    expect((await lab.cni("DEL", call)).exitCode).toBe(0);
  });
  expect(attached).toEqual([]);
  expect((await leaks(lab)).map(({ network, reason }) => `${network}: ${reason}`)).toEqual([]);
  expect(await addresses(lab)).toEqual([]);
  expect(portsOf(bridge)).toEqual([]);
  expect(rulesOf(bridge)).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
}, 180_000);
