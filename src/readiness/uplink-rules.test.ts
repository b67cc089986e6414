import { expect, test } from "bun:test";
import { judgeUplink, type BridgeNeed, type BridgePorts, type UplinkFacts } from "./uplink-rules.ts";

const vlan57: UplinkFacts = { name: "eth1.57", isUp: true, vlan: { id: 57, parent: "eth1" } };
const tap: UplinkFacts = { name: "tap0", isUp: true };
const site: BridgeNeed = { bridge: "br-prod", uplink: "eth1.57", vlan: 57, parent: "eth1" };

test.each<[BridgeNeed, BridgePorts, string]>([
  [{ bridge: "br-prod" }, [{ name: "eth1", isUp: true }], "eth1"],
  [{ bridge: "br-prod", vlan: 57 }, [{ name: "eth9", isUp: true }, vlan57], "eth1.57"],
  // One uplink that works is enough, and that one is named.
  [{ bridge: "br-prod" }, [{ name: "eth9", isUp: false }, vlan57], "eth1.57"],
  [{ bridge: "br-prod" }, [{ name: "eth9", isUp: undefined }, vlan57], "eth1.57"],
  [site, [tap, vlan57], "eth1.57"],
])("judgeUplink of %j with %j names the port that serves", (need, ports, port) => {
  expect(judgeUplink(need, ports)).toEqual({ state: "there", port });
});

test.each<[BridgeNeed, BridgePorts, string]>([
  [{ bridge: "br-prod" }, [], "host bridge br-prod has no uplink (ip link set DEVICE master br-prod)"],
  [site, [], "host bridge br-prod lacks its uplink eth1.57 (ip link set eth1.57 master br-prod)"],
  [site, [{ name: "eth1", isUp: true }], "host bridge br-prod lacks its uplink eth1.57"],
  [{ bridge: "br-prod", vlan: 57 }, [{ name: "eth1", isUp: true }], "eth1 of host bridge br-prod is not the device"],
  [site, [{ ...vlan57, vlan: { id: 58, parent: "eth1" } }], "is the device of VLAN 58 instead of 57"],
  [site, [{ ...vlan57, vlan: { id: 57, parent: "eth2" } }], "is on eth2 instead of eth1"],
  [site, [{ ...vlan57, isUp: false }], "uplink eth1.57 of host bridge br-prod is down (ip link set eth1.57 up)"],
  [site, "no-bridge", "missing host bridge br-prod (the interface br-prod is not a bridge)"],
])("judgeUplink of %j with %j says what is missing", (need, ports, words) => {
  const verdict = judgeUplink(need, ports);
  expect(verdict).toEqual({ state: "missing", reason: expect.stringContaining(words) as string });
});

test.each<[BridgeNeed, BridgePorts, string]>([
  [site, undefined, "the ports of host bridge br-prod were not seen"],
  [site, [{ ...vlan57, vlan: "unseen" }], "the VLAN of uplink eth1.57 of host bridge br-prod was not seen"],
  [site, [{ ...vlan57, isUp: undefined }], "the state of uplink eth1.57 of host bridge br-prod was not seen"],
  [
    { bridge: "br-prod" },
    [
      { name: "eth9", isUp: false },
      { name: "eth1", isUp: undefined },
    ],
    "the state of uplink eth1 of host bridge br-prod was not seen",
  ],
])("judgeUplink of %j with %j says what was not seen, and finds nothing missing", (need, ports, reason) => {
  expect(judgeUplink(need, ports)).toMatchObject({ state: "unseen", reason });
});

test("judgeUplink leaves a VLAN that was not seen alone where none is asked for", () => {
  expect(judgeUplink({ bridge: "br-prod" }, [{ ...vlan57, vlan: "unseen" }]).state).toBe("there");
});
