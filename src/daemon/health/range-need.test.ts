import { expect, test } from "bun:test";
import { addressNumber } from "../../lint/addresses/address-range.ts";
import { rangeNeed, rangesHave } from "./range-need.ts";

function gives(plugin: Readonly<Record<string, unknown>>, address: string): boolean {
  const config = JSON.stringify({ cniVersion: "1.0.0", ...plugin });
  const need = rangeNeed({ namespace: "prod", name: "lan", annotations: {}, config });
  const value = addressNumber(address);
  return need !== undefined && value !== undefined && rangesHave(need, value);
}

const bridge = { type: "bridge", bridge: "br0" };
const whereabouts = { type: "whereabouts", range: "10.1.0.0/24" };

test.each([
  ["in the middle of a range", { ...bridge, ipam: whereabouts }, "10.1.0.9", true],
  ["outside", { ...bridge, ipam: whereabouts }, "10.1.1.9", false],
  ["excluded", { ...bridge, ipam: { ...whereabouts, exclude: ["10.1.0.8/30"] } }, "10.1.0.9", false],
  ["the gateway", { ...bridge, ipam: { ...whereabouts, gateway: "10.1.0.9" } }, "10.1.0.9", false],
  ["beside the gateway", { ...bridge, ipam: { ...whereabouts, gateway: "10.1.0.9" } }, "10.1.0.1", true],
  ["what the bridge takes as gateway", { ...bridge, isGateway: true, ipam: whereabouts }, "10.1.0.1", false],
  ["the first one of a bridge without a gateway", { ...bridge, ipam: whereabouts }, "10.1.0.1", true],
  ["host-local's gateway", { ...bridge, ipam: { type: "host-local", subnet: "10.1.0.0/24" } }, "10.1.0.1", false],
  ["host-local's second", { ...bridge, ipam: { type: "host-local", subnet: "10.1.0.0/24" } }, "10.1.0.2", true],
  ["static", { type: "macvlan", ipam: { type: "static", addresses: [{ address: "10.1.0.9/24" }] } }, "10.1.0.9", true],
  ["IPv6", { ...bridge, ipam: { type: "whereabouts", range: "fd00::/64" } }, "fd00::9", true],
  ["of a network that routes", { type: "ptp", ipam: whereabouts }, "10.1.0.9", false],
  ["of another address plugin", { ...bridge, ipam: { type: "dhcp" } }, "10.1.0.9", false],
] as const)("rangeNeed: an address %s", (_what, plugin, address, isGiven) => {
  expect(gives(plugin, address)).toBe(isGiven);
});

test("rangeNeed leaves out what is no configuration", () => {
  expect(rangeNeed({ namespace: "prod", name: "lan", annotations: {}, config: "{" })).toBeUndefined();
  expect(rangeNeed({ namespace: "prod", name: "lan", annotations: {}, config: undefined })).toBeUndefined();
});
