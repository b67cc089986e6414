import { describe, expect, test } from "bun:test";
import { buildCatalogue, objectKey } from "./catalogue.ts";
import type { KeptFile } from "./contents.ts";
import type { NetworkDefinition } from "../view/network-definition.ts";
import type { PodFacts } from "../view/pod-facts.ts";

function file(pods: readonly PodFacts[], networks: readonly NetworkDefinition[] = []): KeptFile {
  return { mark: undefined, digest: "", manifest: { pods, networks }, problems: [] };
}

function pod(name: string, uid: string, namespace: string = "default"): PodFacts {
  return {
    namespace: namespace as never,
    name: name as never,
    uid: uid as never,
    annotations: {},
    priority: undefined,
    isStatic: false,
  };
}

function network(name: string, config: string): NetworkDefinition {
  return { namespace: "default" as never, name, config, annotations: {} };
}

describe("buildCatalogue", () => {
  test("finds objects by namespace and name", () => {
    const catalogue = buildCatalogue([["a.yaml", file([pod("a", "1"), pod("a", "2", "other")], [network("a", "{}")])]]);
    expect(catalogue.pods.get(objectKey("default", "a"))?.uid as string).toBe("1");
    expect(catalogue.pods.get(objectKey("other", "a"))?.uid as string).toBe("2");
    expect(catalogue.networks.get("default/a")?.config).toBe("{}");
    expect(catalogue.problems).toEqual([]);
  });

  test("takes the first of two and reports the second, by kind", () => {
    const catalogue = buildCatalogue([
      ["a.yaml", file([pod("x", "1")], [network("x", "1")])],
      ["b.yaml", file([pod("x", "2")], [network("x", "2")])],
    ]);
    expect(catalogue.pods.get("default/x")?.uid as string).toBe("1");
    expect(catalogue.networks.get("default/x")?.config).toBe("1");
    expect(catalogue.problems.map(({ file: name, reason }) => [name, reason.slice(0, 32)])).toEqual([
      ["b.yaml", "Cannot use the pod default/x as "],
      ["b.yaml", "Cannot use the network default/x"],
    ]);
  });

  test("reports an object that one file defines twice", () => {
    const catalogue = buildCatalogue([["a.yaml", file([pod("x", "1"), pod("x", "2")])]]);
    expect(catalogue.problems).toHaveLength(1);
    expect(catalogue.problems[0]?.reason).toContain("a.yaml defines it already");
  });
});
