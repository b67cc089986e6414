import { expect, test } from "bun:test";
import { masterProblems } from "./master-rules.ts";

const need = { name: "eth1", role: "master", mtu: 1_500, isWhole: true } as const;
const good = { isUp: true, mtu: 1_500, isPort: false };

test.each([
  [need, good],
  [need, undefined],
  [need, { isUp: undefined, mtu: undefined, isPort: false }],
  // A VLAN may lie on a port.
  [
    { name: "eth1", role: "master" },
    { ...good, isPort: true },
  ],
  [
    { name: "ens7", role: "device" },
    { ...good, isUp: false },
  ],
] as const)("masterProblems finds nothing wrong with %j and %j", (link, facts) => {
  expect(masterProblems(link, facts)).toEqual([]);
});

test("masterProblems names each", () => {
  expect(masterProblems({ ...need, mtu: 9_000 }, { isUp: false, mtu: 1_500, isPort: true })).toEqual([
    "host interface eth1 is down (ip link set eth1 up)",
    "host interface eth1 is a port of another interface",
    "mtu 9000 of the network is above 1500 of host interface eth1",
  ]);
});
