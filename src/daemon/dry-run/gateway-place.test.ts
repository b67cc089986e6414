import { expect, test } from "bun:test";
import { jsonValue } from "../../cni/json-text.ts";
import { changesOfBridge, gatewayPlace } from "./gateway-place.ts";

const bridge = { type: "bridge", bridge: "br0", isGateway: true };
const subnet = "10.1.0.0/24";

/** What the plugin would do to a bridge with these addresses; empty for nothing. */
function changes(conf: object, held: readonly string[] = []): string {
  const place = gatewayPlace(jsonValue(conf));
  return place === undefined ? "" : (changesOfBridge(place, held) ?? "");
}

test.each([
  ["is no gateway", { ...bridge, isGateway: false, ipam: { type: "host-local", subnet } }],
  ["has no address plugin", bridge],
  ["has an empty address plugin", { ...bridge, ipam: {} }],
])("a bridge that %s gets no address", (_what, conf) => {
  expect(changes(conf)).toBe("");
});

test.each([
  ["host-local", { type: "host-local", subnet }, "10.1.0.1/24"],
  ["host-local with a gateway", { type: "host-local", ranges: [[{ subnet, gateway: "10.1.0.9" }]] }, "10.1.0.9/24"],
  ["host-local of IPv6", { type: "host-local", ranges: [[{ subnet: "fd00:1::/64" }]] }, "fd00:1::1/64"],
  ["whereabouts", { type: "whereabouts", range: "10.1.0.8/24" }, "10.1.0.1/24"],
  ["whereabouts from and to", { type: "whereabouts", range: "10.1.0.8-10.1.0.9/24" }, "10.1.0.1/24"],
  ["whereabouts with a gateway", { type: "whereabouts", range: subnet, gateway: "10.1.0.254" }, "10.1.0.254/24"],
])("the bridge of %s must have the gateway's address", (_what, ipam, gateway) => {
  expect(changes({ ...bridge, ipam }, ["10.1.0.200/24", "fe80::1/64"])).toContain(`br0 has no address ${gateway}`);
  expect(changes({ ...bridge, ipam }, ["10.1.0.200/24", gateway])).toBe("");
  expect(changes({ ...bridge, ipam }, [gateway.replace(/\/.*/u, "/32")])).toContain("has no address");
});

test("every range counts, isDefaultGateway is a gateway, and a VLAN has an interface of its own", () => {
  const ranges = [[{ subnet }], [{ subnet: "fd00:1::/64" }]];
  const both = { type: "cnv-bridge", isDefaultGateway: true, vlan: 57, ipam: { type: "host-local", ranges } };
  expect(changes(both, ["10.1.0.1/24"])).toContain("bridge cni0.57 has no address fd00:1::1/64");
});

test.each([
  { type: "dhcp" },
  { type: "our-own" },
  { type: "host-local", subnet: "soon" },
  { type: "whereabouts", range: subnet, ipRanges: [{ range: "10.2.0.0/24" }], gateway: "10.1.0.1" },
])("a gateway that only %o knows is refused", (ipam) => {
  expect(changes({ ...bridge, ipam }, ["10.1.0.1/24"])).toContain("only the address plugin knows");
});

test("forceAddress takes away every other address, but not the kernel's own", () => {
  const forced = { ...bridge, forceAddress: true, ipam: { type: "host-local", subnet } };
  expect(changes(forced, ["10.1.0.1/24", "fe80::1/64"])).toBe("");
  expect(changes(forced, ["10.1.0.1/24", "10.5.0.1/32"])).toContain("may take the address 10.5.0.1/32 away");
});
