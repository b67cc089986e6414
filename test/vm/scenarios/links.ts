import { expect, test } from "bun:test";
import { applyNetworks, hostLocal, network } from "../../e2e/networks.ts";
import { podsOn } from "../../e2e/the-levee.ts";
import { expectPing, removePods, sandboxOf, untilAttached } from "../expectations.ts";
import { thirdLink, uplink } from "../node-files.ts";
import { theNode } from "../the-node.ts";

const two = ["links-01", "links-02"];

test("ipvlan, vlan and a macvlan in a vrf: each pod has the device of each kind, and reaches the site or the other pod", async () => {
  const scene = await theNode();
  const macvlan = { type: "macvlan", master: uplink, mode: "bridge", ipam: hostLocal("10.215.0.0/24") };
  await applyNetworks(
    scene.plane.api,
    network("ipv", {
      ...{ cniVersion: "1.0.0", type: "ipvlan", master: thirdLink, mode: "l2" },
      ipam: hostLocal("10.214.0.0/24"),
    }),
    network("vl58", {
      ...{ cniVersion: "1.0.0", type: "vlan", master: uplink, vlanId: 58 },
      ipam: hostLocal("10.213.0.0/24"),
    }),
    network("red", { cniVersion: "1.0.0", plugins: [macvlan, { type: "vrf", vrfname: "red" }] }),
  );
  const [first = "", second = ""] = two;
  // One VLAN device per master and tag, so only one pod has it.
  await scene.plane.pods.create([...podsOn([first], "ipv, red, vl58"), ...podsOn([second], "ipv, red")]);
  const facts = await untilAttached(scene, [second], ["default/ipv", "default/red"]);
  await untilAttached(scene, [first], ["default/ipv", "default/red", "default/vl58"]);
  const { links, netns } = sandboxOf(facts, second);
  expect(links.filter(({ ifname }) => ifname !== "eth0")).toMatchObject([
    { ifname: "net1", kind: "ipvlan" },
    { ifname: "net2", kind: "macvlan", master: "red" },
    { ifname: "red", kind: "vrf" },
  ]);
  await expectPing(scene, netns, "10.214.0.254");
  const ofFirst = sandboxOf(await untilAttached(scene, [first], ["default/ipv", "default/red", "default/vl58"]), first);
  expect(ofFirst.links.find(({ ifname }) => ifname === "net3")).toMatchObject({ kind: "vlan" });
  await expectPing(scene, ofFirst.netns, "10.213.0.254");
  const inRed = links.find(({ ifname }) => ifname === "net2")?.addresses[0] ?? "";
  await expectPing(scene, ofFirst.netns, inRed, "red");
  await removePods(scene, two);
});
