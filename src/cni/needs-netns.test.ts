import { expect, test } from "bun:test";
import type { PluginType } from "../base/brand.ts";
import { asJsonText } from "./json-text.ts";
import { needsNetns } from "./needs-netns.ts";

function chainOf(...plugins: readonly Record<string, unknown>[]) {
  const links = plugins.map((plugin) => ({
    type: String(plugin["type"]) as PluginType,
    stdin: asJsonText(JSON.stringify(plugin), "a plugin"),
  }));
  return { links };
}

const hostLocal = { type: "host-local", ranges: [[{ subnet: "10.0.0.0/24" }]] };

test.each([
  [{ type: "bridge", ipMasq: false, ipam: hostLocal }],
  [{ type: "macvlan", ipam: { ...hostLocal, type: "whereabouts" } }],
  [{ type: "ipvlan" }],
])("needsNetns is false for a plugin that leaves nothing without its namespace: %j", (plugin) => {
  expect(needsNetns(chainOf(plugin))).toBe(false);
  expect(needsNetns(chainOf(plugin, { type: "portmap" }, { type: "bandwidth" }))).toBe(false);
});

test.each([
  [{ type: "host-device", device: "eth7" }],
  [{ type: "sriov" }],
  [{ type: "some-vendor" }],
  [{ type: "tuning", mac: "02:00:00:00:00:01" }],
  [{ type: "bridge", ipMasq: true, ipam: hostLocal }],
  [{ type: "bridge", IPMasq: true, ipam: hostLocal }],
  [{ type: "bridge", macspoofchk: true }],
  [{ type: "macvlan", ipam: { type: "dhcp" } }],
  [{ type: "macvlan", ipam: { type: "some-vendor-ipam" } }],
  [{ type: "macvlan", IPAM: { type: "dhcp" } }],
  [{ type: "macvlan", ipam: "host-local" }],
])("needsNetns is true for a chain that cannot be proven not to need it: %j", (plugin) => {
  expect(needsNetns(chainOf(plugin))).toBe(true);
  expect(needsNetns(chainOf({ type: "ipvlan" }, plugin))).toBe(true);
});
