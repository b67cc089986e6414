import { describe, expect, test } from "bun:test";
import { needsOfText, type Needs } from "./network-needs.ts";
import type { UplinkWish } from "./uplink-wish.ts";

function needsOf(plugin: Readonly<Record<string, unknown>>): Needs[number] | undefined {
  const text = JSON.stringify({ cniVersion: "1.0.0", name: "n", ...plugin });
  return needsOfText(text, { what: "n", defaultName: "n" })[0];
}

describe("needsOfText", () => {
  test.each([
    [{ type: "bridge", bridge: "br-prod" }, []],
    [{ type: "macvlan", master: "eth1" }, [{ name: "eth1", role: "master", isWhole: true }]],
    [{ type: "ipvlan", master: "eth1", mtu: 9000 }, [{ name: "eth1", role: "master", mtu: 9000, isWhole: true }]],
    [{ type: "macvlan" }, []],
    [{ type: "vlan", master: "bond0", vlanId: 57 }, [{ name: "bond0", role: "master" }]],
    [{ type: "ipvlan", master: "eth0", linkInContainer: true }, []],
    [{ type: "host-device", device: "ens1" }, [{ name: "ens1", role: "device" }]],
    [{ type: "host-device", pciBusID: "0000:00:1f.6" }, []],
    [{ type: "calico", bridge: "br-prod", master: "eth0" }, []],
    [{ type: "macvlan", master: 5 }, []],
  ] as const)("finds the interfaces that %j needs", (plugin, links) => {
    expect(needsOf(plugin)?.links).toEqual([...links]);
  });

  test.each([
    [{ type: "bridge", bridge: "br-prod", vlan: 57 }, { bridge: "br-prod" }],
    [{ type: "bridge" }, { bridge: "cni0" }],
    [{ type: "cnv-bridge", bridge: "br-prod" }, { bridge: "br-prod" }],
    // The host routes for these, so a bridge that the plugin creates is enough.
    [{ type: "bridge", bridge: "br0", isGateway: true }, undefined],
    [{ type: "bridge", bridge: "br0", ipMasq: true }, undefined],
    [{ type: "cnv-bridge", bridge: "br0", isGateway: true }, undefined],
    [{ type: "macvlan", bridge: "br0" }, undefined],
  ] as const)("finds the bridge that must lead out of the host for %j", (plugin, bridge) => {
    expect(needsOf(plugin)?.bridge).toEqual(bridge);
  });

  test("adds what the annotations say about the uplink, and leaves a bridge without one to the plugin", () => {
    const conf = '{"cniVersion":"1.0.0","name":"n","type":"bridge","bridge":"br0"}';
    const needs = (uplink: UplinkWish, text = conf): object | undefined =>
      needsOfText(text, { what: "n", defaultName: "n" }, uplink)[0];
    expect(needs({ need: { uplink: "eth1.57", vlan: 57 } })).toMatchObject({
      bridge: { bridge: "br0", uplink: "eth1.57", vlan: 57 },
    });
    expect(needs({ isNone: true })).not.toHaveProperty("bridge");
    expect(needs({ isOpen: true })).toMatchObject({ bridge: { bridge: "br0" }, isOpen: true });
    expect(needs({ isOpen: true }, conf.replace('"bridge",', '"cnv-bridge",'))).toMatchObject({ isOpen: true });
    expect(needs({ isOpen: true }, conf.replace('"bridge",', '"macvlan",'))).not.toHaveProperty("isOpen");
  });

  test.each([
    [{ type: "bridge", bridge: "br0", vlan: 57 }, ["br0"]],
    [{ type: "bridge", isGateway: true, vlan: 57 }, ["cni0"]],
    [{ type: "bridge", vlanTrunk: [{ id: 5 }] }, ["cni0"]],
    [{ type: "cnv-bridge", bridge: "br0", vlan: 57 }, ["br0"]],
    [{ type: "bridge", vlan: 0, vlanTrunk: [] }, undefined],
    [{ type: "bridge" }, undefined],
    [{ type: "vlan", master: "eth0", vlan: 57 }, undefined],
  ] as const)("finds the bridge that must filter VLANs for %j", (plugin, bridges) => {
    expect(needsOf(plugin)?.vlanBridges).toEqual(bridges === undefined ? undefined : [...bridges]);
  });

  test.each([
    [{ type: "macvlan", ipam: { type: "dhcp" } }, "/run/cni/dhcp.sock"],
    [{ type: "bridge", ipam: { type: "dhcp", daemonSocketPath: "/run/lan/dhcp.sock" } }, "/run/lan/dhcp.sock"],
    [{ type: "ovs", bridge: "br1" }, "/var/run/openvswitch/db.sock"],
    [{ type: "ovs", bridge: "br1", socket_file: "unix:/run/ovs.sock" }, "/run/ovs.sock"],
    // A database on another host cannot be looked for.
    [{ type: "ovs", bridge: "br1", socket_file: "tcp:192.0.2.1:6640" }, undefined],
    [{ type: "bridge", ipam: { type: "host-local" } }, undefined],
  ] as const)("finds the daemon that %j needs", (plugin, socket) => {
    expect(needsOf(plugin)?.daemon?.socket).toBe(socket as string | undefined);
  });

  test("needs the plugin's program and that of its IPAM, if that is a valid name", () => {
    expect(needsOf({ type: "bridge", ipam: { type: "host-local" } })?.programs).toEqual(["bridge", "host-local"]);
    expect(needsOf({ type: "bridge", ipam: {} })?.programs).toEqual(["bridge"]);
    expect(needsOf({ type: "bridge", ipam: { type: "../../bin/sh" } })?.programs).toEqual(["bridge"]);
  });

  test("reads every plugin of a list", () => {
    const text = '{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"vlan","master":"eth0"},{"type":"tuning"}]}';
    expect(needsOfText(text, { what: "n", defaultName: "n" }).map(({ programs }) => programs)).toEqual([
      ["vlan"],
      ["tuning"],
    ]);
  });

  test("refuses an unusable configuration", () => {
    expect(() => needsOfText("{", { what: "n", defaultName: "n" })).toThrow("n");
  });
});
