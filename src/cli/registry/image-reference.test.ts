import { describe, expect, test } from "bun:test";
import { parseImage, registryOf, registryProblem } from "./image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("parseImage", () => {
  test.each([
    ["levee", { name: "levee", tag: undefined, digest: undefined }],
    [
      "quay.io/kubevirt/cdi-operator:v1.65.0",
      { name: "quay.io/kubevirt/cdi-operator", tag: "v1.65.0", digest: undefined },
    ],
    [`r.test:5000/a/b@${digest}`, { name: "r.test:5000/a/b", tag: undefined, digest }],
    [`localhost:5000/a:1@${digest}`, { name: "localhost:5000/a", tag: "1", digest }],
  ])("reads %s", (text, found) => {
    expect(parseImage(text)).toEqual(found);
  });

  test.each([
    "",
    "a/B",
    "a b",
    `${"a-".repeat(300)}a`,
    "https://a.test/b",
    "a@sha256:12",
    "a:",
    "a//b",
    "{{ .image }}",
    "$(IMAGE)",
  ])("takes %j for no image", (text) => {
    expect(parseImage(text)).toBeUndefined();
  });
});

test("registryOf knows a host by its dot or port", () => {
  expect(["a/b", "a.test/b", "localhost/b", "a:5000/b", "b"].map((name) => registryOf(name))).toEqual([
    undefined,
    "a.test",
    "localhost",
    "a:5000",
    undefined,
  ]);
});

describe("registryProblem", () => {
  test.each(["registry.example.com", "registry.example.com:5000/site", "localhost/a", "gitea.example.com/infra/net"])(
    "accepts %s",
    (text) => {
      expect(registryProblem(text)).toBeUndefined();
    },
  );

  test.each([
    ["", "empty"],
    ["https://a.test", "leave out the scheme"],
    ["docker://a.test", "leave out the scheme"],
    ["a.test/", "slash at the end"],
    ["a.test:65536/site", "its port must be at most 65535"],
    ["site", "must begin with the registry's host"],
    ["site/infra", "must begin with the registry's host"],
    ["user@a.test", "no user"],
    ["a.test/Site", "only lower-case names"],
    ["a.test/x y", "only lower-case names"],
    ["a.test/x:1", "only lower-case names"],
  ])("refuses %j", (text, why) => {
    expect(registryProblem(text)).toContain(why);
  });
});
