import { expect, test } from "bun:test";
import { bridgeProblem, type BridgeNeed, type UplinkFacts } from "./uplink-rules.ts";

const vlan57: UplinkFacts = { name: "eth1.57", isUp: true, vlan: { id: 57, parent: "eth1" } };
const site: BridgeNeed = { bridge: "br-prod", uplink: "eth1.57", vlan: 57, parent: "eth1" };

test.each([
  [{ bridge: "br-prod" }, [{ name: "eth1", isUp: true }]],
  [{ bridge: "br-prod" }, [{ name: "eth1", isUp: undefined }]],
  [{ bridge: "br-prod", vlan: 57 }, [{ name: "eth9", isUp: true }, vlan57]],
  // One uplink that works is enough.
  [{ bridge: "br-prod" }, [{ name: "eth9", isUp: false }, vlan57]],
  [site, [vlan57]],
  [site, undefined],
] as const)("bridgeProblem finds nothing wrong with %j and %j", (need, uplinks) => {
  expect(bridgeProblem(need, uplinks)).toBeUndefined();
});

test.each([
  [{ bridge: "br-prod" }, [], "host bridge br-prod has no uplink (ip link set DEVICE master br-prod)"],
  [site, [], "host bridge br-prod lacks its uplink eth1.57 (ip link set eth1.57 master br-prod)"],
  [site, [{ name: "eth1", isUp: true }], "host bridge br-prod lacks its uplink eth1.57"],
  [{ bridge: "br-prod", vlan: 57 }, [{ name: "eth1", isUp: true }], "eth1 of host bridge br-prod is not the device"],
  [site, [{ ...vlan57, vlan: { id: 58, parent: "eth1" } }], "is the device of VLAN 58 instead of 57"],
  [site, [{ ...vlan57, vlan: { id: 57, parent: "eth2" } }], "is on eth2 instead of eth1"],
  [site, [{ ...vlan57, isUp: false }], "uplink eth1.57 of host bridge br-prod is down (ip link set eth1.57 up)"],
] as const)("bridgeProblem of %j with %j says what is missing", (need, uplinks, words) => {
  expect(bridgeProblem(need, uplinks)).toContain(words);
});
