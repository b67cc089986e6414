import { describe, expect, test } from "bun:test";
import { SharedTexts } from "../../base/shared-texts.ts";
import { deviceIn, projectSlice, sameSlice, type SliceFacts } from "./slice-facts.ts";
import { slice } from "./slices.fixture.ts";

function facts(...made: Parameters<typeof slice>): SliceFacts {
  const projected = projectSlice(slice(...made), new SharedTexts());
  if (projected === undefined) throw new Error("no slice");
  return projected;
}

const wanted = { driver: "vf.example", pool: "node1", device: "a", request: "r" };

describe("projectSlice", () => {
  test("keeps two texts per device, and devices for other purposes without any", () => {
    const { devices } = facts("s", { a: ["0000:1", "intel.com/vf"], b: ["0000:2"], gpu: [], gpu2: [] });
    expect(Object.fromEntries(devices)).toEqual({
      a: { deviceId: "0000:1", resourceName: "intel.com/vf" },
      b: { deviceId: "0000:2", resourceName: "" },
      gpu: { deviceId: "", resourceName: "" },
      gpu2: { deviceId: "", resourceName: "" },
    });
    expect(devices.get("gpu")).toBe(devices.get("gpu2"));
  });

  test.each([{}, null, 7, { metadata: { name: "" } }, { spec: {} }])("%j is no slice", (value) => {
    expect(projectSlice(value, new SharedTexts())).toBeUndefined();
  });

  test("takes only texts, as Multus does", () => {
    const attributes = { "k8s.cni.cncf.io/deviceID": { int: 7 }, "k8s.cni.cncf.io/resourceName": "intel.com/vf" };
    const spec = { devices: [{ name: "a", attributes }, 7, null] };
    const made = projectSlice({ metadata: { name: "s" }, spec }, new SharedTexts());
    expect(made?.devices.get("a")).toEqual({ deviceId: "", resourceName: "" });
    expect(projectSlice({ metadata: { name: "s" }, spec: { devices: "x" } }, new SharedTexts())?.devices.size).toBe(0);
  });
});

test("sameSlice sees every field that is kept", () => {
  const one = facts("s", { a: ["1", "r"] });
  expect(sameSlice(one, facts("s", { a: ["1", "r"] }))).toBe(true);
  for (const other of [
    facts("s", { a: ["2", "r"] }),
    facts("s", { a: ["1", "q"] }),
    facts("s", { b: ["1", "r"] }),
    facts("s", { a: ["1", "r"], b: [] }),
    facts("s", { a: ["1", "r"] }, { generation: 2 }),
    facts("s", { a: ["1", "r"] }, { driver: "other.example" }),
    facts("s", { a: ["1", "r"] }, { pool: "other" }),
  ])
    expect(sameSlice(one, other)).toBe(false);
});

describe("deviceIn", () => {
  test("finds a device by driver, pool and name", () => {
    const slices = [
      facts("s1", { a: ["wrong", "r"] }, { driver: "other.example" }),
      facts("s2", { a: ["wrong", "r"] }, { pool: "other" }),
      facts("s3", { b: ["wrong", "r"], a: ["1", "r"] }),
    ];
    expect(deviceIn(slices, wanted)).toEqual({ deviceId: "1", resourceName: "r" });
    expect(deviceIn(slices, { ...wanted, device: "c" })).toBeUndefined();
    expect(deviceIn([], wanted)).toBeUndefined();
  });

  test("never takes one of an older generation of its pool", () => {
    const old = facts("s9", { a: ["old", "r"] }, { generation: 1 });
    expect(deviceIn([old, facts("s1", { a: ["new", "r"] }, { generation: 2 })], wanted)?.deviceId).toBe("new");
    expect(deviceIn([old, facts("s1", { b: ["new", "r"] }, { generation: 2 })], wanted)).toBeUndefined();
  });

  test("of two slices the last one by name counts, and one without an ID never hides one that has it", () => {
    const slices = [facts("s2", { a: ["2", "r"] }), facts("s1", { a: ["1", "r"] }), facts("s3", { a: [] })];
    expect(deviceIn(slices, wanted)?.deviceId).toBe("2");
  });
});
