import { beforeEach, describe, expect, test } from "bun:test";
import type { AllocatedDevice, ClaimAnswer, ClaimView, PublishedDevice } from "../../view/claim-view.ts";
import type { PodClaims } from "../../view/pod-claims.ts";
import { claimedDevices } from "./claimed-devices.ts";

let notes: string[];
let asked: string[];
let claims: Record<string, ClaimAnswer>;
let published: Record<string, PublishedDevice>;

beforeEach(() => {
  [notes, asked, claims, published] = [[], [], {}, {}];
});

const view: ClaimView = {
  claim: (namespace, name) => {
    asked.push(`${namespace}/${name}`);
    return Promise.resolve(claims[name] ?? "absent");
  },
  published: ({ device }) => Promise.resolve(published[device]),
};

function device(name: string, request = "vf"): AllocatedDevice {
  return { driver: "vf.example", pool: "node1", device: name, request };
}

function ask(of: PodClaims, named: readonly string[] = []): ReturnType<typeof claimedDevices> {
  const { signal } = new AbortController();
  const note = (detail: string): void => void notes.push(detail);
  return claimedDevices({ namespace: "default", claims: of, named: new Set(named), view, signal, note });
}

const fromStatus = (claim: string): PodClaims => ({ refs: [{ name: "net", claim, isInStatus: true }] });

describe("claimedDevices", () => {
  test("names each device, and why others are skipped, in Multus' order", async () => {
    claims["c"] = [device("b"), device("gpu", "gpu"), device("a"), device("half"), device("gone")];
    published = {
      b: { deviceId: "0000:2", resourceName: "intel.com/vf" },
      a: { deviceId: "0000:1", resourceName: "intel.com/vf" },
      gpu: { deviceId: "", resourceName: "" },
      half: { deviceId: "0000:3", resourceName: "" },
    };
    const found = await ask(fromStatus("c"));
    expect(found.map(({ deviceId, ref, request }) => [deviceId, ref, request])).toEqual([
      ["0000:2", "net", "vf"],
      ["0000:1", "net", "vf"],
    ]);
    expect(found[0]?.origin).toBe("vf.example/node1/b of the claim c, request vf");
    expect(notes).toEqual([
      "skipped vf.example/node1/gpu of the claim c, request gpu: it has no attribute k8s.cni.cncf.io/deviceID",
      "skipped vf.example/node1/half of the claim c, request vf: it has no attribute k8s.cni.cncf.io/resourceName",
      "skipped vf.example/node1/gone of the claim c, request vf: no ResourceSlice of this node has it",
    ]);
  });

  test("reads a claim that only the spec names only for a network that names it", async () => {
    const own: PodClaims = { refs: [{ name: "own", claim: "shared", isInStatus: false }] };
    claims["shared"] = [device("a")];
    published["a"] = { deviceId: "0000:1", resourceName: "intel.com/vf" };
    expect(await ask(own)).toEqual([]);
    expect(asked).toEqual([]);
    expect(await ask(own, ["own"])).toMatchObject([{ deviceId: "0000:1", isForAll: false }]);
  });

  test("fails for a claim that is gone or has no devices yet, and not for a cluster without claims", async () => {
    expect(ask(fromStatus("none"))).rejects.toThrow(
      "Cannot find the devices of the claim default/none: it does not exist",
    );
    claims["new"] = "unallocated";
    expect(ask(fromStatus("new"))).rejects.toMatchObject({ code: "try-later" });
    claims["old"] = "no-api";
    expect(await ask(fromStatus("old"))).toEqual([]);
    expect(notes).toEqual(["claims were not looked at: the API server has no resource.k8s.io/v1"]);
  });
});

describe("claimedDevices of extended resources", () => {
  const extended = (resourceName = "intel.com/vf", request = "request-0"): PodClaims => ({
    refs: [],
    extended: { claim: "ext", mappings: [{ resourceName, request }] },
  });

  beforeEach(() => {
    claims["ext"] = [device("a", "request-0"), device("b", "request-0"), device("gpu", "request-1")];
    published["a"] = { deviceId: "0000:1", resourceName: "intel.com/vf" };
    published["b"] = { deviceId: "0000:2", resourceName: "intel.com/vf" };
    published["gpu"] = { deviceId: "", resourceName: "" };
  });

  test("gives those of the mapped requests", async () => {
    expect((await ask(extended())).map(({ deviceId }) => deviceId)).toEqual(["0000:1", "0000:2"]);
    expect(notes).toEqual([]);
  });

  test.each([
    [extended("intel.com/vf", "request-7"), "it has no device for the request request-7"],
    [extended("example.com/gpu", "request-1"), "it has no attribute k8s.cni.cncf.io/deviceID"],
    [extended("intel.com/pf"), "is of intel.com/vf, not of intel.com/pf"],
  ])("refuses %j, because every device there is meant", (of, why) => {
    const refused = ask(of);
    expect(refused).rejects.toMatchObject({ code: "config-invalid" });
    expect(refused).rejects.toThrow(why);
  });

  test("refuses a device that no slice has", () => {
    delete published["b"];
    expect(ask(extended())).rejects.toThrow("no ResourceSlice of this node has it");
  });
});
