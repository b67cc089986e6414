import { expect, test } from "bun:test";
import type { NetworkRoom } from "../../lint/addresses/pool-room.ts";
import { AddressCount } from "./address-count.ts";
import { parsePoolObject } from "./address-pool-object.ts";
import { definition } from "./definition.fixture.ts";
import { addressMetrics } from "./network-metrics.ts";
import { projectWatchedNetwork, type WatchedNetwork } from "./watched-network.ts";

const nodes = new Set(["n1", "n2"]);

function network(name: string, ipam: object): WatchedNetwork {
  return projectWatchedNetwork(definition(name, { type: "bridge", ipam: { type: "whereabouts", ...ipam } }))!;
}

/** An IPPool with the first `held` addresses of its range taken. */
function pool(name: string, range: string, held: number, namespace = "kube-system"): object {
  const taken = Array.from({ length: held }, (_, at) => [String(at + 1), { id: "c", podref: "default/p" }]);
  return { metadata: { name, namespace }, spec: { range, allocations: Object.fromEntries(taken) as object } };
}

function rooms(networks: readonly WatchedNetwork[], ...pools: readonly unknown[]): readonly NetworkRoom[] {
  const count = new AddressCount(networks, nodes);
  for (const one of pools) {
    const object = parsePoolObject(one);
    if (object !== undefined) count.add(object);
  }
  return count.rooms();
}

test.each([
  ["a whole subnet", { range: "10.1.0.0/24" }, 254, 244],
  ["a subnet that is written by one of its addresses", { range: "10.1.0.9/24" }, 254, 244],
  ["start and end", { range: "10.1.0.0/24", range_start: "10.1.0.6", range_end: "10.1.0.25" }, 20, 15],
  ["start and end in the range", { range: "10.1.0.6-10.1.0.25/24" }, 20, 15],
  ["a start that no pod gets", { range: "10.1.0.0-10.1.0.25/24" }, 25, 15],
  ["excluded addresses", { range: "10.1.0.0/24", exclude: ["10.1.0.0/29", "10.1.0.200"] }, 246, 243],
])("AddressCount counts %s", (_what, ipam, total, left) => {
  expect(rooms([network("lan", ipam)], pool("10.1.0.0-24", "10.1.0.0/24", 10))).toEqual([
    { network: "prod/lan", total, left },
  ]);
});

test("AddressCount shows the scarcest of several ranges, and no network that holds no address", () => {
  const dual = network("dual", { range: "10.1.0.0/28", ipRanges: [{ range: "fd00:1::/64" }] });
  const empty = network("empty", { range: "10.9.0.0/24" });
  const six = pool("fd00-1---64", "fd00:1::/64", 12);
  const [room, ...more] = rooms([dual, empty], pool("10.1.0.0-28", "10.1.0.0/28", 12), six);
  expect([room, more]).toEqual([{ network: "prod/dual", total: 14, left: 2 }, []]);
  expect(rooms([network("six", { range: "fd00:1::/64" })], six)).toEqual([
    { network: "prod/six", total: 2 ** 64, left: 2 ** 64 },
  ]);
});

test("AddressCount counts what overlapping pools of the same network name hold, unless whereabouts does not regard them", () => {
  const [wide, narrow] = [pool("10.1.0.0-24", "10.1.0.0/24", 5), pool("10.1.0.0-28", "10.1.0.0/28", 0)];
  const apart = { range: "10.1.0.0/28", enable_overlapping_ranges: false };
  expect(rooms([network("lan", { range: "10.1.0.0/28" })], wide, narrow)).toMatchObject([{ total: 14, left: 9 }]);
  expect(rooms([network("lan", apart)], wide, narrow)).toEqual([]);
  // Another network name: the same addresses on another wire.
  expect(rooms([network("lan", { range: "10.1.0.0/24", network_name: "blue" })], wide)).toEqual([]);
  const blue = pool("blue-10.1.0.0-24", "10.1.0.0/24", 7);
  expect(rooms([network("lan", { range: "10.1.0.0/24", network_name: "blue" })], wide, blue)).toMatchObject([
    { left: 247 },
  ]);
});

test("AddressCount takes the fullest slice of a node, without a pool that belongs to no node", () => {
  const sliced = network("lan", { range: "10.1.0.0/16", node_slice_size: "/28", exclude: ["10.1.0.0/30"] });
  const [one, two] = [pool("n1-10.1.0.0-28", "10.1.0.0/28", 3), pool("n2-10.1.0.16-28", "10.1.0.16/28", 14)];
  const other = pool("blue-10.1.0.32-29", "10.1.0.32/29", 6);
  expect(rooms([sliced], one, two, other)).toEqual([{ network: "prod/lan", total: 14, left: 0 }]);
  expect(rooms([sliced], one, other)).toEqual([{ network: "prod/lan", total: 14, left: 11 }]);
  const named = network("lan", { range: "10.1.0.0/16", node_slice_size: "28", network_name: "red" });
  expect(rooms([named], one, two, pool("red-n2-10.1.0.48-28", "10.1.0.48/28", 4))).toMatchObject([{ left: 10 }]);
});

test("AddressCount counts the pools of one namespace, although an older whereabouts left some in another", () => {
  const lan = network("lan", { range: "10.1.0.0/24" });
  const old = pool("10.1.0.0-24", "10.1.0.0/24", 30, "old");
  expect(rooms([lan], pool("10.1.0.0-24", "10.1.0.0/24", 40), old)).toMatchObject([{ left: 214 }]);
});

test.each([
  ["no object", "pool"],
  ["no spec", { metadata: { name: "10.1.0.0-24" } }],
  ["a range that is none", pool("10.1.0.0-99", "10.1.0.0/99", 3)],
  ["a name that says another range", pool("10.2.0.0-24", "10.1.0.0/24", 3)],
  [
    "allocations that are a list",
    { metadata: { name: "10.1.0.0-24" }, spec: { range: "10.1.0.0/24", allocations: [1] } },
  ],
  [
    "keys that are no offsets of the range",
    {
      metadata: { name: "10.1.0.0-24" },
      spec: {
        range: "10.1.0.0/24",
        allocations: { "-1": {}, "x": {}, "1e3": {}, "256": {}, ["9".repeat(400)]: {}, "0": 7 },
      },
    },
  ],
])("AddressCount counts nothing of an IPPool with %s", (_what, object) => {
  expect(rooms([network("lan", { range: "10.1.0.0/24" })], object)).toEqual([]);
});

test("AddressCount counts no definition that cannot be read, or has more parts than are kept", () => {
  const exclude = Array.from({ length: 600 }, (_, at) => `10.1.${at >> 7}.${(at & 127) * 2}`);
  const many = network("many", { range: "10.1.0.0/16", exclude });
  expect(many.counted).toBeUndefined();
  const broken = [network("a", { range: "nonsense" }), projectWatchedNetwork(definition("b", "type: x"))!];
  expect(new AddressCount([many, ...broken], nodes).isEmpty).toBe(true);
});

test("addressMetrics writes a line for each network, also of a range beyond all counting, and nothing while nothing is known", () => {
  const text = addressMetrics([{ network: "prod/six", total: 2 ** 120, left: 2 ** 120 }]);
  expect(text).toContain('levee_guard_network_addresses_left{network="prod/six"} 1.329227995784916e+36\n');
  expect(addressMetrics([])).toContain("# TYPE levee_guard_network_addresses gauge\n");
  expect(addressMetrics(undefined)).toBe("");
});
