import { expect, test } from "bun:test";
import type { Namespace } from "../../../base/brand.ts";
import type { Lease } from "../../../hands/lease.ts";
import type { NetworkDefinition } from "../../../view/network-definition.ts";
import { addressRooms } from "./address-rooms.ts";
import type { NetworkRoom } from "../../../lint/addresses/pool-room.ts";
import { definitionsOf } from "./definitions-of.ts";

const usual = "/lab/cni/networks";

function definition(name: string, ipam: object, conf: object = {}): NetworkDefinition {
  const config = JSON.stringify({ type: "bridge", ...conf, ipam: { type: "host-local", ...ipam } });
  return { namespace: "prod" as Namespace, name, config, annotations: {} };
}

function leases(network: string, addresses: readonly string[], dataDir = usual): readonly Lease[] {
  const file = { containerId: "c", isBlank: false, ifname: "net1", changedWallMs: 0 };
  return addresses.map((address) => ({ dataDir, network, address, ...file }));
}

function rooms(definitions: readonly NetworkDefinition[], held: readonly Lease[]): readonly NetworkRoom[] {
  const folders = new Set(held.map(({ network }) => network));
  return addressRooms(definitionsOf(definitions, folders), held, usual);
}

test("addressRooms counts the addresses of a range without its gateway, and those of other ranges not at all", () => {
  const lan = definition("lan", { subnet: "10.1.0.0/29" });
  expect(rooms([lan], leases("lan", ["10.1.0.2", "10.1.0.3", "10.9.0.1"]))).toEqual([
    { network: "prod/lan", total: 5, left: 3 },
  ]);
  const full = leases("lan", ["10.1.0.2", "10.1.0.3", "10.1.0.4", "10.1.0.5", "10.1.0.6"]);
  expect(rooms([lan], full)).toEqual([{ network: "prod/lan", total: 5, left: 0 }]);
});

test("addressRooms takes the set with the fewest left, and the ranges of a set together", () => {
  const v4 = [{ subnet: "10.1.0.0/29" }, { subnet: "10.2.0.0/29" }];
  const dual = definition("dual", { ranges: [v4, [{ subnet: "fd00::/64" }]] });
  expect(rooms([dual], leases("dual", ["10.1.0.2", "10.2.0.2", "fd00::2", "fd00::3"]))).toEqual([
    { network: "prod/dual", total: 10, left: 8 },
  ]);
  const tight = definition("dual", {
    ranges: [v4, [{ subnet: "fd00::/64", rangeStart: "fd00::2", rangeEnd: "fd00::3" }]],
  });
  expect(rooms([tight], leases("dual", ["10.1.0.2", "fd00::2"]))).toEqual([
    { network: "prod/dual", total: 2, left: 1 },
  ]);
});

test("addressRooms finds the folder by the conf's name and dataDir", () => {
  const named = definition("a", { subnet: "10.1.0.0/29" }, { name: "shared" });
  const elsewhere = definition("b", { subnet: "10.1.0.0/29", dataDir: "/srv/ipam/" });
  const held = [...leases("shared", ["10.1.0.2"]), ...leases("b", ["10.1.0.2", "10.1.0.3"], "/srv/ipam")];
  expect(rooms([named, elsewhere], held)).toEqual([
    { network: "prod/b", total: 5, left: 3 },
    { network: "prod/a", total: 5, left: 4 },
  ]);
});

test.each([
  ["a network without leases", definition("other", { subnet: "10.1.0.0/29" })],
  ["another address plugin", definition("lan", { type: "whereabouts", range: "10.1.0.0/29" })],
  ["a configuration that is no JSON", { ...definition("lan", {}), config: '{"ipam":"host-local"' }],
  ["ranges that come with the pod", definition("lan", {})],
])("addressRooms leaves out %s", (_what, one) => {
  expect(rooms([one], leases("lan", ["10.1.0.2"]))).toEqual([]);
});

test("addressRooms names a hundred networks at most, those with the smallest share left", () => {
  const names = Array.from({ length: 150 }, (_, at) => `n${at}`);
  const held = names.flatMap((name, at) => leases(name, at === 149 ? ["10.1.0.2", "10.1.0.3"] : ["10.1.0.2"]));
  const found = rooms(
    names.map((name) => definition(name, { subnet: "10.1.0.0/29" })),
    held,
  );
  expect(found).toHaveLength(100);
  expect(found[0]?.network).toBe("prod/n149");
});
