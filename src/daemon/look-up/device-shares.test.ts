import { describe, expect, test } from "bun:test";
import type { NetworkSource } from "../../attachment/plan.ts";
import type { NetworkName } from "../../base/brand.ts";
import type { ClaimedDevice } from "./claimed-devices.ts";
import { DeviceShares, type DevicesOfPod } from "./device-shares.ts";

function network(name: string, resourceName: string, deviceRequest?: string): NetworkSource {
  const conf = {} as NetworkSource["conf"]; // not read here
  const source = { network: name as NetworkName, conf, resourceName };
  return deviceRequest === undefined ? source : { ...source, deviceRequest };
}

function claimed(deviceId: string, request: string, more: Partial<ClaimedDevice> = {}): ClaimedDevice {
  const origin = `the request ${request}`;
  return { deviceId, resourceName: "intel.com/vf", ref: "net", request, isForAll: true, origin, ...more };
}

function share(pod: Partial<DevicesOfPod>, ...sources: readonly NetworkSource[]): readonly (string | undefined)[] {
  const shares = new DeviceShares({ allotted: new Map(), claims: new Set(), claimed: [], ...pod }, sources);
  return sources.map((source) => shares.next(source)?.deviceId);
}

const vf = (name: string): NetworkSource => network(name, "intel.com/vf");

describe("DeviceShares", () => {
  test("devices of a device plugin and of claims are one sorted list, as in Multus", () => {
    const pod = {
      allotted: new Map([["intel.com/vf", ["0000:2", "0000:4"]]]),
      claimed: [claimed("0000:3", "r"), claimed("0000:1", "r"), claimed("0000:0", "r", { resourceName: "other" })],
    };
    expect(share(pod, vf("a"), vf("b"), vf("c"), vf("d"), vf("e"))).toEqual([
      "0000:1",
      "0000:2",
      "0000:3",
      "0000:4",
      undefined,
    ]);
  });

  test("a claim whose name is the resource goes first, with the kubelet's IDs, as in Multus 4.3.0", () => {
    const pod = {
      allotted: new Map([["my-claim", ["eth7"]]]),
      claims: new Set(["my-claim"]),
      claimed: [claimed("0000:1", "r", { resourceName: "my-claim" })],
    };
    expect(share(pod, network("a", "my-claim"), network("b", "my-claim"))).toEqual(["eth7", undefined]);
    expect(share({ ...pod, allotted: new Map() }, network("a", "my-claim"))).toEqual(["0000:1"]);
  });

  test("one device that both tell of is given once", () => {
    const pod = { allotted: new Map([["intel.com/vf", ["0000:1"]]]), claimed: [claimed("0000:1", "r")] };
    expect(share(pod, vf("a"), vf("b"))).toEqual(["0000:1", undefined]);
  });
});

describe("DeviceShares of networks that name their request", () => {
  const claimedBoth = [claimed("0000:1", "blue"), claimed("0000:2", "red"), claimed("0000:3", "red")];
  const red = network("r", "intel.com/vf", "net/red");
  const blue = network("b", "intel.com/vf", "net/blue");

  test("tells two networks on one pool apart, whatever their order is", () => {
    expect(share({ claimed: claimedBoth }, red, blue)).toEqual(["0000:2", "0000:1"]);
    expect(share({ claimed: claimedBoth }, blue, red)).toEqual(["0000:1", "0000:2"]);
    expect(share({ claimed: claimedBoth }, red, network("r2", "intel.com/vf", "net/red"))).toEqual([
      "0000:2",
      "0000:3",
    ]);
  });

  test("a network without a request never gets a device of one with it", () => {
    expect(share({ claimed: claimedBoth }, vf("any"), blue, vf("more"))).toEqual(["0000:2", "0000:1", "0000:3"]);
  });

  test("takes a device of a claim that only the spec names", () => {
    const own = [claimed("0000:9", "blue", { isForAll: false })];
    expect(share({ claimed: own }, vf("any"), blue)).toEqual([undefined, "0000:9"]);
  });

  test("a claim without a request means each of its requests", () => {
    const two = [claimed("0000:2", "red"), claimed("0000:1", "red", { ref: "more" })];
    expect(share({ claimed: two }, network("a", "intel.com/vf", "net"), network("b", "intel.com/vf", "more"))).toEqual([
      "0000:2",
      "0000:1",
    ]);
  });

  test("a request with alternatives is meant with each of them", () => {
    expect(share({ claimed: [claimed("0000:1", "red/fast"), claimed("0000:2", "redder")] }, red)).toEqual(["0000:1"]);
    expect(share({ claimed: [claimed("0000:1", "red/fast")] }, network("x", "intel.com/vf", "net/red/fast"))).toEqual([
      "0000:1",
    ]);
  });

  test.each([
    ["net/green", "no claim of the pod has a device for a network by that request"],
    ["other/red", "no claim of the pod has a device"],
    ["rubbish //", "no claim of the pod has a device"],
  ])("refuses %j rather than to take another device", (request, why) => {
    expect(() => share({ claimed: [claimed("0000:2", "red")] }, network("x", "intel.com/vf", request))).toThrow(why);
  });

  test("refuses a device of another resource, and one that is taken", () => {
    const other = [claimed("0000:1", "red", { resourceName: "intel.com/pf" })];
    expect(() => share({ claimed: other }, red)).toThrow("none of its 1 is of the network's resource and free");
    const one = [claimed("0000:1", "red")];
    expect(() => share({ claimed: one }, red, network("r2", "intel.com/vf", "net/red"))).toThrow(
      "Cannot give r2 a device of net/red: none of its 1",
    );
  });
});

describe("DeviceShares for a pod that runs", () => {
  const red = network("r", "intel.com/vf", "net/red");
  const both = [claimed("0000:1", "blue"), claimed("0000:2", "red")];

  test("a network gets the device of its request while others of the pod have theirs", () => {
    expect(share({ claimed: both, used: ["0000:1"] }, red)).toEqual(["0000:2"]);
    expect(() => share({ claimed: both, used: ["0000:2"] }, red)).toThrow("none of its 1 is");
  });

  test("a network without a request gets the first device that no other has", () => {
    const pod = { allotted: new Map([["intel.com/vf", ["0000:3", "0000:4"]]]), claimed: both };
    expect(share({ ...pod, used: ["0000:1", "0000:3"] }, vf("a"))).toEqual(["0000:2"]);
    expect(share({ ...pod, used: ["0000:1", "0000:2", "0000:3", "0000:4"] }, vf("a"))).toEqual([undefined]);
    const named = { allotted: new Map([["my-claim", ["eth7", "eth8"]]]), claims: new Set(["my-claim"]) };
    expect(share({ ...named, used: ["eth7"] }, network("a", "my-claim"))).toEqual(["eth8"]);
  });

  test("a device that two requests share is free until it is used twice", () => {
    const shared = [claimed("0000:1", "blue"), claimed("0000:1", "red")];
    expect(share({ claimed: shared, used: ["0000:1"] }, red)).toEqual(["0000:1"]);
    expect(() => share({ claimed: shared, used: ["0000:1", "0000:1"] }, red)).toThrow("none of its 1 is");
  });
});
