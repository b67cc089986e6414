import { expect, test } from "bun:test";
import { jsonPatched, mergedInto } from "./patch-object.ts";

test("a merge patch goes into objects, replaces everything else, and null takes away", () => {
  const old = { metadata: { labels: { a: "1", b: "2" } }, list: [1, 2] };
  const patch = { metadata: { labels: { a: null, c: "3" } }, list: [9] };
  expect(mergedInto(old, patch)).toEqual({ metadata: { labels: { b: "2", c: "3" } }, list: [9] });
});

test("a JSON patch changes fields, and nothing when a test does not hold", () => {
  const old = { spec: { size: 3, containers: [{ memory: "50Mi" }] }, metadata: { annotations: {} } };
  const test = { op: "test", path: "/spec/size", value: 3 };
  const replace = { op: "replace", path: "/spec/containers/0/memory", value: "64Mi" };
  const add = { op: "add", path: "/metadata/annotations/a~1b", value: "c" };
  expect(jsonPatched(old, [test, replace, add])).toEqual({
    spec: { size: 3, containers: [{ memory: "64Mi" }] },
    metadata: { annotations: { "a/b": "c" } },
  });
  expect(jsonPatched(old, [{ ...test, value: 4 }, replace])).toBeUndefined();
  expect(jsonPatched(old, [{ ...replace, path: "/spec/none" }])).toBeUndefined();
  expect(old.spec.containers[0]?.memory).toBe("50Mi");
});
