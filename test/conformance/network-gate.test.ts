// A bridge network without a gateway: no pod starts on an island, and each starts by itself when the host is ready.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { expect, test } from "bun:test";
import type { ChecksAnswer } from "../../src/wire/node-view.ts";
import { distributionPlugins, ip, type CniCall, type Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { levee } from "../lab/levee.ts";
import { containerId, errorOf, expectSilence, networksAnnotation, resultOf, startNode } from "./node.ts";

/** A bridge and an uplink that do not exist yet; both are gone at the end. */
class Site implements Disposable {
  readonly bridge: string;
  readonly uplink: string;

  constructor({ id }: Lab) {
    this.bridge = `gb${id}`.slice(0, 15);
    this.uplink = `gu${id}`.slice(0, 15);
  }

  get isThere(): boolean {
    return existsSync(`/sys/class/net/${this.bridge}`);
  }

  makeBridge(): void {
    ip(["link", "add", this.bridge, "type", "bridge"]);
    ip(["link", "set", this.bridge, "up"]);
  }

  /** The far end stands for the site's switch. */
  makeUplink(): void {
    ip(["link", "add", this.uplink, "type", "veth", "peer", "name", `${this.uplink.slice(0, 14)}x`]);
    ip(["link", "set", `${this.uplink.slice(0, 14)}x`, "up"]);
    ip(["link", "set", this.uplink, "master", this.bridge, "up"]);
  }

  [Symbol.dispose](): void {
    for (const name of [this.bridge, this.uplink]) spawnSync("ip", ["link", "delete", name]);
  }
}

async function siteNetwork(
  lab: Lab,
  { bridge }: Site,
  annotations: Record<string, string> = {},
  type = "bridge",
): Promise<void> {
  const ipam = { type: "host-local", dataDir: lab.path("ipam"), ranges: [[{ subnet: "10.57.0.0/24" }]] };
  await lab.network("vlan57", { cniVersion: "1.0.0", name: "vlan57", type, bridge, ipam }, "default", annotations);
  await lab.pod("vm", { [networksAnnotation]: "vlan57" });
}

function callOf(lab: Lab, name: string): CniCall & { readonly netns: string } {
  return { containerId: containerId(name), netns: lab.netns(name), args: lab.podArgs("vm") };
}

const gated = { settings: { uplinkGate: 1 } };

test("the pod waits for the bridge, then for its uplink, and starts with the first try after the host's work", async () => {
  await using lab = await startNode(gated);
  await lab.startHand();
  using site = new Site(lab);
  await siteNetwork(lab, site);
  const call = callOf(lab, "a");
  const refused = async (words: string): Promise<void> => {
    const error = errorOf(await lab.cni("ADD", call));
    expect(error.code).toBe(11);
    expect(error.msg).toContain(`Cannot attach default/vlan57 on this node yet: ${words}`);
    expect(error.msg).toEndWith("; the pod waits and starts by itself when the host is ready");
  };
  await refused(`missing host bridge ${site.bridge}`);
  expect(site.isThere).toBe(false);
  site.makeBridge();
  await lab.until("the look that refused is a second old", () => Bun.sleep(1_100).then(() => true as const));
  await refused(`host bridge ${site.bridge} has no uplink (ip link set DEVICE master ${site.bridge})`);
  site.makeUplink();
  await Bun.sleep(1_100);
  resultOf(await lab.cni("ADD", call));
  // The plugins before it ran for the first time only now.
  expect((await lab.calls()).map(({ command, plugin }) => `${command} ${plugin}`)).toEqual(["ADD first"]);
  expect((await levee(lab, "why", "vm")).out).toContain("missing host bridge");
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
}, 30_000);

test("the bridge plugin under its second name, cnv-bridge, is kept back and served alike", async () => {
  await using lab = await startNode(gated);
  await symlink(`${distributionPlugins}/bridge`, lab.path("bin/cnv-bridge"));
  using site = new Site(lab);
  await siteNetwork(lab, site, {}, "cnv-bridge");
  const call = callOf(lab, "a");
  // Without the resident hand, the shim's own look at the bridge counts.
  expect(errorOf(await lab.cni("ADD", call)).msg).toContain(`missing host bridge ${site.bridge}`);
  expect(site.isThere).toBe(false);
  site.makeBridge();
  await lab.startHand();
  await Bun.sleep(1_100);
  expect(errorOf(await lab.cni("ADD", call)).msg).toContain(`host bridge ${site.bridge} has no uplink`);
  site.makeUplink();
  await Bun.sleep(1_100);
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
}, 30_000);

test("a bridge that vanished, or lost its uplink, since the last look is noticed before the plugin runs", async () => {
  await using lab = await startNode(gated);
  await lab.startHand();
  using site = new Site(lab);
  site.makeBridge();
  site.makeUplink();
  await siteNetwork(lab, site);
  const first = callOf(lab, "a");
  resultOf(await lab.cni("ADD", first));
  await Bun.sleep(1_100);
  ip(["link", "set", site.uplink, "nomaster"]);
  expect(errorOf(await lab.cni("ADD", callOf(lab, "b"))).msg).toContain("has no uplink");
  ip(["link", "set", site.uplink, "master", site.bridge, "down"]);
  await Bun.sleep(1_100);
  expect(errorOf(await lab.cni("ADD", callOf(lab, "d"))).msg).toContain(`uplink ${site.uplink} of host bridge`);
  ip(["link", "delete", site.bridge]);
  await Bun.sleep(1_100);
  expect(errorOf(await lab.cni("ADD", callOf(lab, "c"))).msg).toContain(`missing host bridge ${site.bridge}`);
  expect(site.isThere).toBe(false);
  expectSilence(await lab.cni("DEL", first));
}, 30_000);

test("levee check network says what is missing and passes when nothing is", async () => {
  await using lab = await startNode(gated);
  await lab.startHand();
  for (const name of ["bridge", "host-local"]) await symlink(`${distributionPlugins}/${name}`, lab.path("bin", name));
  using site = new Site(lab);
  await siteNetwork(lab, site);
  const verdict = (status: number): Promise<string> =>
    lab.until(`levee check network ends with ${status}`, async () => {
      const end = await levee(lab, "check", "network", "default/vlan57");
      return end.status === status && !/absent|unknown/u.test(end.out) ? end.out : undefined;
    });
  const bad = await verdict(1);
  expect(bad).toMatch(/default\/vlan57 +not-ready +missing host bridge/u);
  expect(bad).toContain("→ create what is missing on the host");
  expect((await levee(lab, "check", "network", "nosuch")).err).toContain("no node that answered knows such a network");
  site.makeBridge();
  site.makeUplink();
  // A pod's try has the daemon look again; otherwise it does so once a minute.
  resultOf(
    await lab.until("the look is a second old", async () => {
      const end = await lab.cni("ADD", callOf(lab, `t${performance.now().toFixed(0)}`));
      return end.exitCode === 0 ? end : undefined;
    }),
  );
  expect(await verdict(0)).toMatch(/default\/vlan57 +ready/u);
  const json = JSON.parse((await levee(lab, "check", "network", "vlan57", "-o", "json")).out) as { isGood: boolean };
  expect(json.isGood).toBe(true);
}, 60_000);

test("levee check network doubts a range with an address of the host, and pods start all the same", async () => {
  await using lab = await startNode(gated);
  await lab.startHand();
  for (const name of ["bridge", "host-local"]) await symlink(`${distributionPlugins}/${name}`, lab.path("bin", name));
  using site = new Site(lab);
  site.makeBridge();
  site.makeUplink();
  ip(["address", "add", "10.57.0.9/24", "dev", site.bridge]);
  await siteNetwork(lab, site);
  const said = await lab.until("the hand has looked at the bridge", async () => {
    const end = await levee(lab, "check", "network", "default/vlan57");
    return end.out === "" || /absent|unknown/u.test(end.out) ? undefined : end;
  });
  const reason = `host address 10.57.0.9 of ${site.bridge} is in the network's range`;
  expect(said.out).toContain(reason);
  expect(said.status).toBe(0);
  const call = callOf(lab, "a");
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  // The gateway of the range may well be the host's.
  ip(["address", "replace", "10.57.0.1/24", "dev", site.bridge]);
  ip(["address", "delete", "10.57.0.9/24", "dev", site.bridge]);
  await siteNetwork(lab, site, { "levee.dev/uplink": site.uplink });
  await lab.until("the hand has looked again", async () => {
    const end = await levee(lab, "check", "network", "default/vlan57");
    return end.status === 0 && !end.out.includes(reason) && /default\/vlan57 +ready/u.test(end.out) ? true : undefined;
  });
}, 60_000);

test("without a resident hand a missing bridge is refused all the same; uplinks cannot be seen", async () => {
  await using lab = await startNode(gated);
  using site = new Site(lab);
  await siteNetwork(lab, site);
  const call = callOf(lab, "a");
  expect(errorOf(await lab.cni("ADD", call)).msg).toContain(`missing host bridge ${site.bridge}`);
  expect(site.isThere).toBe(false);
  site.makeBridge();
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
});

test("the annotations name the uplink and its VLAN, or that the bridge leads nowhere", async () => {
  await using lab = await startNode(gated);
  await lab.startHand();
  using site = new Site(lab);
  site.makeBridge();
  site.makeUplink();
  const messageWith = async (name: string, annotations: Record<string, string>): Promise<string> => {
    await siteNetwork(lab, site, annotations);
    await lab.until("the daemon has read the definition", async () => {
      const text = await lab.ask<{ networks: { reasons: string[] }[] }>({ ask: "checks" });
      return text.networks.length > 0 ? true : undefined;
    });
    await Bun.sleep(1_200);
    const call = callOf(lab, name);
    const outcome = await lab.cni("ADD", call);
    if (outcome.exitCode !== 0) return errorOf(outcome).msg;
    expectSilence(await lab.cni("DEL", call));
    return "served";
  };
  expect(await messageWith("right", { "levee.dev/uplink": site.uplink })).toBe("served");
  const other = await messageWith("other", { "levee.dev/uplink": "eth9.57" });
  expect(other).toContain(`host bridge ${site.bridge} lacks its uplink eth9.57`);
  const tagged = await messageWith("tagged", { "levee.dev/uplink-vlan": "57" });
  expect(tagged).toContain(`uplink ${site.uplink} of host bridge ${site.bridge} is not the device of VLAN 57`);
  expect(await messageWith("bad", { "levee.dev/uplink-vlan": "4095" })).toContain('current value is "4095"');
  ip(["link", "delete", site.bridge]);
  expect(await messageWith("none", { "levee.dev/uplink": "none" })).toBe("served");
}, 60_000);

test("uplinkGate 0 leaves the bridge to the plugin, as Multus does", async () => {
  await using lab = await startNode({ settings: { uplinkGate: 0 } });
  await lab.startHand();
  using site = new Site(lab);
  await siteNetwork(lab, site);
  const call = callOf(lab, "a");
  resultOf(await lab.cni("ADD", call));
  expect(site.isThere).toBe(true);
  expectSilence(await lab.cni("DEL", call));
});

test("with uplinkGate 0 an annotation that names an uplink or a VLAN closes the gate for its network", async () => {
  await using lab = await startNode({ settings: { uplinkGate: 0 } });
  await lab.startHand();
  using site = new Site(lab);
  await siteNetwork(lab, site, { "levee.dev/uplink": site.uplink });
  const call = callOf(lab, "a");
  expect(errorOf(await lab.cni("ADD", call)).msg).toContain(`missing host bridge ${site.bridge}`);
  expect(site.isThere).toBe(false);
  site.makeBridge();
  await Bun.sleep(1_100);
  expect(errorOf(await lab.cni("ADD", call)).msg).toContain(`lacks its uplink ${site.uplink}`);
  site.makeUplink();
  await Bun.sleep(1_100);
  resultOf(await lab.cni("ADD", call));
  expectSilence(await lab.cni("DEL", call));
  expect(await leftovers(lab)).toEqual([]);
}, 30_000);

test("the resident hand asks programs for their versions, and looks at state, MTU and role of a master", async () => {
  await using lab = await startNode(gated);
  for (const name of ["bridge", "macvlan"]) await symlink(`${distributionPlugins}/${name}`, lab.path("bin", name));
  await writeFile(lab.path("bin/foreign"), "\u007fELF of another machine", { mode: 0o755 });
  using site = new Site(lab);
  site.makeBridge();
  site.makeUplink();
  const { uplink } = site;
  const newer = { cniVersion: "1.1.0", name: "newer", type: "bridge", isGateway: true };
  await lab.network("newer", newer);
  await lab.network("older", { ...newer, name: "older", cniVersion: "0.4.0" });
  await lab.network("foreign", { cniVersion: "1.0.0", type: "foreign" });
  await lab.network("port", { cniVersion: "1.0.0", type: "macvlan", master: uplink, mtu: 9000 });
  await lab.network("tuned", { cniVersion: "1.0.0", type: "macvlan", master: site.bridge });
  await lab.startHand();
  const networks = await lab.until("all five were looked at", async () => {
    const answer = await lab.ask<ChecksAnswer>({ ask: "checks" });
    const seen = answer.networks.filter(({ state }) => state !== "unknown");
    return seen.length >= 5 ? new Map(seen.map(({ network, reasons }) => [network, reasons])) : undefined;
  });
  expect(networks.get("default/newer")?.join()).toContain(
    "plugin bridge does not support cniVersion 1.1.0, only 0.1.0",
  );
  expect(networks.get("default/older")).toEqual([]);
  expect(networks.get("default/foreign")?.join()).toStartWith("plugin foreign cannot be run (");
  expect(networks.get("default/port")).toEqual([
    `host interface ${uplink} is a port of another interface`,
    `mtu 9000 of the network is above 1500 of host interface ${uplink}`,
  ]);
  expect(networks.get("default/tuned")).toEqual([]);
}, 60_000);
