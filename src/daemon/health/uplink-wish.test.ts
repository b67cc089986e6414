import { expect, test } from "bun:test";
import { isGateClosed, uplinkWish } from "./uplink-wish.ts";

const [uplink, vlan] = ["levee.dev/uplink", "levee.dev/uplink-vlan"] as const;

test.each([
  [{}, {}],
  [{ [uplink]: "enp86s0.57" }, { need: { uplink: "enp86s0.57" } }],
  [{ [vlan]: "57" }, { need: { vlan: 57 } }],
  [{ [uplink]: "prod", [vlan]: "57@enp86s0" }, { need: { uplink: "prod", vlan: 57, parent: "enp86s0" } }],
] as const)("uplinkWish reads %j", (annotations, wish) => {
  expect(uplinkWish(annotations, true)).toEqual(wish);
  // What a definition says counts, whatever the setting says.
  expect(uplinkWish(annotations, false)).toEqual(Object.keys(wish).length === 0 ? { isOpen: true } : wish);
});

test("uplinkWish leaves the gate of a bridge without an uplink to the setting, as its tags may be lost", () => {
  expect(uplinkWish({ [uplink]: "none" }, true)).toEqual({ isNone: true });
  expect(uplinkWish({ [uplink]: "none" }, false)).toEqual({ isNone: true, isOpen: true });
});

test.each([
  [{ [uplink]: "" }, 'levee.dev/uplink as it must be an interface name or "none": current value is ""'],
  [{ [uplink]: "a/b" }, 'current value is "a/b"'],
  [{ [uplink]: "x".repeat(300) }, "xxx"],
  [{ [vlan]: "0" }, "levee.dev/uplink-vlan as it must be a VLAN of 1 to 4094"],
  [{ [vlan]: "4095" }, 'current value is "4095"'],
  [{ [vlan]: "57@" }, 'current value is "57@"'],
  [{ [vlan]: "57@a b" }, 'current value is "57@a b"'],
  [{ [vlan]: "prod" }, 'current value is "prod"'],
])("uplinkWish refuses %j with the value", (annotations, words) => {
  expect(() => uplinkWish(annotations, true)).toThrow(words);
});

test.each([
  [{}, false, true],
  [{ [uplink]: "none" }, false, true],
  [{ [uplink]: "none", [vlan]: "57" }, false, true],
  [{ [uplink]: "eth1.57" }, true, true],
  [{ [vlan]: "57" }, true, true],
  // One that cannot be used is no leave to make an island.
  [{ [vlan]: "4095" }, true, true],
] as const)("isGateClosed by %j is %p with the setting off, and %p with it on", (annotations, off, on) => {
  expect([isGateClosed(annotations, false), isGateClosed(annotations, true)]).toEqual([off, on]);
});
