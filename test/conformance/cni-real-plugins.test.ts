// CNI 1.1 with the distribution's own plugins: what they make is there after ADD, passes CHECK, and is gone after DEL.
import { spawnSync } from "node:child_process";
import { expect, test } from "bun:test";
import { ip } from "../lab/lab.ts";
import { addresses, ipamFolder, leftovers } from "../lab/leftovers.ts";
import { realBridge } from "./bridge.ts";
import { containerId, expectSilence, networksAnnotation, resultOf, startNode } from "./node.ts";

function nameOf(netns: string): string {
  return netns.slice(netns.lastIndexOf("/") + 1);
}

function links(netns: string): readonly string[] {
  return (JSON.parse(ip(["-n", nameOf(netns), "-j", "link"])) as readonly { ifname: string }[]).map(
    ({ ifname }) => ifname,
  );
}

test("ptp with tuning, bridge, macvlan with static, and loopback in one pod", async () => {
  await using bridge = realBridge("p");
  await using lab = await startNode({
    prepare: (lab) =>
      lab.configure({
        delegates: [
          {
            cniVersion: "1.0.0",
            name: "primary",
            plugins: [
              {
                type: "ptp",
                mtu: 1400,
                ipam: {
                  type: "host-local",
                  dataDir: ipamFolder(lab),
                  ranges: [[{ subnet: "10.253.77.0/24" }]],
                  routes: [{ dst: "0.0.0.0/0" }],
                },
              },
              { type: "tuning", sysctl: { "net.ipv4.conf.eth0.arp_filter": "1" } },
            ],
          },
        ],
      }),
  });
  await lab.network("lan", bridge.conf("lan", { dataDir: ipamFolder(lab), withV6: true }));
  await lab.network("mac", {
    cniVersion: "1.0.0",
    name: "mac",
    type: "macvlan",
    master: bridge.device,
    mode: "bridge",
    ipam: { type: "static", addresses: [{ address: "10.252.1.9/24" }] },
  });
  await lab.network("lo", { cniVersion: "1.0.0", name: "lo", type: "loopback" });
  await lab.pod("web", { [networksAnnotation]: "lan,mac,lo" });
  const call = { containerId: containerId("real"), netns: lab.netns("a"), args: lab.podArgs("web") };

  const result = resultOf(await lab.cni("ADD", call));
  expect(result.ips?.[0]?.address).toBe("10.253.77.2/24");
  expect(links(call.netns).toSorted()).toEqual(["eth0", "lo", "net1", "net2"]);
  expect(ip(["-n", nameOf(call.netns), "-br", "addr", "show", "net1"])).toContain(bridge.subnet6.slice(0, -2));
  expect(ip(["-n", nameOf(call.netns), "-br", "addr", "show", "net2"])).toContain("10.252.1.9/24");
  const sysctl = spawnSync(
    "ip",
    ["netns", "exec", nameOf(call.netns), "cat", "/proc/sys/net/ipv4/conf/eth0/arp_filter"],
    { encoding: "utf8" },
  );
  expect(sysctl.stdout.trim()).toBe("1");
  expectSilence(await lab.cni("CHECK", call));

  expectSilence(await lab.cni("DEL", call));
  expect(links(call.netns)).toEqual(["lo"]);
  expect(await addresses(lab)).toEqual([]);
  expect(await leftovers(lab)).toEqual([]);
  expect(ip(["-br", "link", "show", "master", bridge.device])).toBe("");
});

for (const version of ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0"]) {
  test(`the real bridge in a network of ${version} is attached and detached`, async () => {
    await using bridge = realBridge("q");
    await using lab = await startNode({
      prepare: (lab) =>
        lab.configure({
          delegates: [bridge.conf("primary", { dataDir: ipamFolder(lab), cniVersion: version, isDefaultRoute: true })],
        }),
    });
    const call = { containerId: containerId("ver"), netns: lab.netns("a") };
    const result = resultOf(await lab.cni("ADD", call));
    expect(result).toMatchObject({ cniVersion: "1.1.0", ips: [{ address: `${bridge.subnet}.2/24` }] });
    expect(result.routes?.map(({ dst }) => dst)).toContain("0.0.0.0/0");
    expectSilence(await lab.cni("DEL", call));
    expect(links(call.netns)).toEqual(["lo"]);
    expect(await leftovers(lab)).toEqual([]);
  });
}
