/** Plugins of the reference set beyond those of the scenarios: dhcp with its daemon and a real server, tuning, sbr. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { expectLedgerUntilBack, expectRefusedUntilBack, type Helper } from "../beside/away.ts";
import { allowChecks, checkPod } from "../beside/check-call.ts";
import { callPlugin } from "../beside/cni-call.ts";
import { dhcpBridge, DhcpNode, dhcpSocket, dhcpUplink } from "../beside/dhcp-node.ts";
import { expectTraffic, untilTrueStatus } from "../expectations.ts";
import { untilNothingIsLeft } from "../leftovers.ts";
import { applyNetworks, hostLocal, inPod, listing, network, podInterfaces } from "../networks.ts";
import { run } from "../run.ts";
import { surroundings } from "../the-cluster.ts";
import { names, podsOn, theScene } from "../the-levee.ts";
import { until } from "../until.ts";

const bridge = { type: "bridge", isGateway: true };

beforeAll(async () => allowChecks(await theScene()), 120_000);

describe("dhcp", () => {
  const three = names("dhcp", 3);
  let site: DhcpNode;

  const helper: Helper = {
    network: "leased",
    complaint: "error dialing DHCP daemon",
    stop: () => site.daemon.stop("SIGKILL"),
    start: () => site.startDaemon(),
  };

  beforeAll(async () => {
    const { cluster } = await theScene();
    site = new DhcpNode(cluster.machine, surroundings().busybox);
    await site.start();
    const conf = { type: "bridge", bridge: dhcpBridge, ipam: { type: "dhcp" } };
    await applyNetworks(cluster.api, network("leased", { cniVersion: "1.0.0", ...conf }));
  }, 120_000);

  afterAll(() => site.stop());

  test("pods have addresses that the server gave, the daemon renews them, and CHECK finds them", async () => {
    const { cluster, levee } = await theScene();
    await cluster.pods.run(podsOn(three, "leased"));
    for (const pod of three) await untilTrueStatus(() => cluster.pods.get(pod), ["default/leased"]);
    const addresses = three.map((pod) => podInterfaces(pod)[1]?.addresses[0] ?? "");
    expect(new Set(addresses).size).toBe(3);
    await site.untilLeased(addresses);
    await expectTraffic(three, "net1");
    for (const pod of three) expect(checkPod(pod)).toBeUndefined();
    await until(
      "the daemon has renewed each lease",
      () => site.daemon.log.split(": lease renewed").length > 3 || undefined,
    );
    await site.untilLeased(addresses);
    await cluster.pods.remove(three);
    await untilNothingIsLeft(levee);
  });

  test("bridge's DEL sends no release: addresses come back when their leases end", async () => {
    // bridge removes the interface before it calls dhcp, whose daemon sends the release by that interface.
    expect(site.failedReleases()).toBe(3);
    await site.untilLeased([]);
    expect(site.releases()).toEqual([]);
  });

  test("bridge's DEL sends no release without Levee either", async () => {
    const call = { containerId: "leased-alone", netns: "/run/netns/leased-alone", ifname: "net1" };
    const conf = { cniVersion: "1.0.0", name: "alone", type: "bridge", bridge: dhcpBridge, ipam: { type: "dhcp" } };
    run("ip", "netns", "add", "leased-alone");
    try {
      expect(callPlugin(conf, { ...call, command: "ADD" })).toBeUndefined();
      expect(callPlugin(conf, { ...call, command: "DEL" })).toBeUndefined();
    } finally {
      run("ip", "netns", "delete", "leased-alone");
    }
    expect(site.failedReleases()).toBe(4);
    await site.untilLeased([]);
    expect(site.releases()).toEqual([]);
  });

  test("macvlan's DEL sends the release", async () => {
    const { cluster, levee } = await theScene();
    const conf = { cniVersion: "1.0.0", type: "macvlan", master: dhcpUplink, ipam: { type: "dhcp" } };
    await applyNetworks(cluster.api, network("leased-macvlan", conf));
    await cluster.pods.run(podsOn(["dhcp-macvlan"], "leased-macvlan"));
    const address = podInterfaces("dhcp-macvlan")[1]?.addresses[0] ?? "";
    await site.untilLeased([address]);
    await cluster.pods.remove(["dhcp-macvlan"]);
    await until("the release is seen", () => site.releases().length > 0 || undefined);
    expect(site.releases()).toEqual([address]);
    expect(site.failedReleases()).toBe(4);
    // The release comes from 0.0.0.0, so the kernel of this server drops it, and the lease ends by its time.
    await site.untilLeased([]);
    await untilNothingIsLeft(levee);
  });

  test("its daemon is away: the pod's event names network and daemon, and the pod starts once it is back", async () => {
    await expectRefusedUntilBack(await theScene(), helper);
  });

  test("its daemon is away: CHECK says so, and a pod can go all the same", async () => {
    const scene = await theScene();
    await scene.cluster.pods.run(podsOn(["dhcp-checked"], "leased"));
    await site.daemon.stop("SIGKILL");
    expect(checkPod("dhcp-checked")).toContain("leased (net1): error dialing DHCP daemon");
    expect(existsSync(dhcpSocket)).toBe(true);
    await site.startDaemon();
    await scene.cluster.pods.remove(["dhcp-checked"]);
    await expectLedgerUntilBack(scene, helper);
  });
});

test("tuning: MTU, MAC and sysctl are the pod's, CHECK sees a changed one, and DEL leaves nothing of it", async () => {
  const { cluster, levee } = await theScene();
  const mac = "02:00:5e:10:00:01";
  const tuning = { type: "tuning", mtu: 1400, mac, sysctl: { "net.ipv4.conf.IFNAME.arp_filter": "1" } };
  const plugins = [{ ...bridge, bridge: "tuned0", ipam: hostLocal("10.84.0.0/24") }, tuning];
  await applyNetworks(cluster.api, network("tuned", { cniVersion: "1.0.0", plugins }));
  await cluster.pods.run(podsOn(["tuned"], "tuned"));
  // The network status has the MAC that the second plugin of the chain set.
  await untilTrueStatus(() => cluster.pods.get("tuned"), ["default/tuned"]);
  expect(podInterfaces("tuned")[1]?.mac).toBe(mac);
  expect(inPod("tuned", "cat", "/proc/sys/net/ipv4/conf/net1/arp_filter").trim()).toBe("1");
  expect(checkPod("tuned")).toBeUndefined();
  inPod("tuned", "ip", "link", "set", "net1", "mtu", "1300");
  expect(checkPod("tuned")).toContain(
    "tuned (net1): Error: Tuning configured MTU of net1 is 1400, current value is 1300",
  );
  await cluster.pods.remove(["tuned"]);
  await untilNothingIsLeft(levee);
  expect(listing("/run/cni/tuning")).toEqual([]);
});

test("sbr: answers leave by the interface that the question came in, for two networks of one pod; CHECK is bridge's", async () => {
  const { cluster, levee } = await theScene();
  const routed = [85, 87].map((part) =>
    network(`routed${part}`, {
      cniVersion: "1.0.0",
      disableCheck: part === 87,
      plugins: [{ ...bridge, bridge: `routed${part}`, ipam: hostLocal(`10.${part}.0.0/24`) }, { type: "sbr" }],
    }),
  );
  await applyNetworks(cluster.api, ...routed);
  await cluster.pods.run(podsOn(["sbr"], "routed85, routed87"));
  await untilTrueStatus(() => cluster.pods.get("sbr"), ["default/routed85", "default/routed87"]);
  const [, net1, net2] = podInterfaces("sbr").map(({ addresses }) => addresses[0]);
  const rules = inPod("sbr", "ip", "rule", "show");
  expect(rules).toContain(`from ${net1} lookup 100`);
  expect(rules).toContain(`from ${net2} lookup 101`);
  expect(inPod("sbr", "ip", "route", "show", "table", "100")).toContain("default via 10.85.0.1 dev net1");
  expect(inPod("sbr", "ip", "route", "show", "table", "101")).toContain("default via 10.87.0.1 dev net2");
  // bridge's own CHECK looks for routes where sbr took them away, so such a network disables it.
  expect(checkPod("sbr")).toBe("default/routed85 (net1): Failed to find Gateway 10.85.0.1 for interface net1");
  await cluster.pods.remove(["sbr"]);
  await untilNothingIsLeft(levee);
});
