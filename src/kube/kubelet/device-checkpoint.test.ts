import { expect, test } from "bun:test";
import { devicesOfCheckpoint } from "./device-checkpoint.ts";

const text = JSON.stringify({
  Data: {
    PodDeviceEntries: [
      { PodUID: "u1", ContainerName: "a", ResourceName: "x/y", DeviceIDs: { "0": ["d2"], "-1": ["d1"] } },
      { PodUID: "u1", ContainerName: "b", ResourceName: "x/y", DeviceIDs: ["d0"] },
      { PodUID: "u2", ContainerName: "a", ResourceName: "x/y", DeviceIDs: { "0": ["other"] } },
      null,
    ],
    RegisteredDevices: { "x/y": ["d0", "d1", "d2", "other"] },
  },
  Checksum: 1,
});

test("devicesOfCheckpoint collects one pod's devices of all NUMA nodes and containers, sorted", () => {
  expect([...devicesOfCheckpoint(text, "u1", "/c")]).toEqual([["x/y", ["d0", "d1", "d2"]]]);
  expect([...devicesOfCheckpoint(text, "u3", "/c")]).toEqual([]);
  expect([...devicesOfCheckpoint('{"Data":{"PodDeviceEntries":null}}', "u1", "/c")]).toEqual([]);
});

test.each(["", "{", "null", "[]", '{"Data":{"PodDeviceEntries":3}}'])("devicesOfCheckpoint refuses %p", (bad) => {
  expect(() => devicesOfCheckpoint(bad, "u1", "/c")).toThrow(/Cannot read the kubelet's device checkpoint \/c/);
});
