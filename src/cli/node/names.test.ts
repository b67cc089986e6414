import { describe, expect, test } from "bun:test";
import {
  netnsName,
  networkText,
  parseNetwork,
  parseNetworks,
  parsePod,
  podText,
  requireLabel,
  requireSubdomain,
} from "./names.ts";

describe("requireLabel", () => {
  test.each(["a", "web-1", "0", "a".repeat(63)])("accepts %s", (name) => {
    expect(requireLabel("a pod name", name)).toBe(name);
  });

  test.each(["", "Web", "-a", "a-", "a.b", "a_b", "a/b", "..", "a b", "ü", "a\n", "a".repeat(64), "a\u0000"])(
    "refuses %j",
    (name) => {
      expect(() => requireLabel("a pod name", name)).toThrow("Cannot use");
    },
  );
});

describe("requireSubdomain", () => {
  test.each(["a", "etcd-server-1.example.lan", "a.0.b-c", "a".repeat(64), "a".repeat(253)])("accepts %s", (name) => {
    expect(parsePod(`kube-system/${name}`, undefined, requireSubdomain)).toEqual({ namespace: "kube-system", name });
  });

  test.each(["", ".", "a.", ".a", "a..b", "a.-b", "a-.b", "A.b", "a/b", "..", "a\n", "a".repeat(254)])(
    "refuses %j",
    (name) => {
      expect(() => requireSubdomain("a pod name", name)).toThrow("Cannot use");
    },
  );
});

describe("parsePod", () => {
  test("takes the namespace from the prefix, from the option, or default", () => {
    expect(parsePod("web", undefined)).toEqual({ namespace: "default", name: "web" });
    expect(parsePod("web", "shop")).toEqual({ namespace: "shop", name: "web" });
    expect(parsePod("shop/web", undefined)).toEqual({ namespace: "shop", name: "web" });
    expect(parsePod("shop/web", "shop")).toEqual({ namespace: "shop", name: "web" });
  });

  test("refuses a prefix and an option that differ, and more than one slash", () => {
    expect(() => parsePod("shop/web", "other")).toThrow("different namespaces");
    expect(() => parsePod("a/b/c", undefined)).toThrow("more than one slash");
  });

  test.each(["../x", "/x", "x/", "", "web", "%2e"].filter((text) => text !== "web"))("refuses %j", (text) => {
    expect(() => parsePod(text, undefined)).toThrow();
  });

  test("refuses a namespace option that is no label", () => {
    expect(() => parsePod("web", "../etc")).toThrow("a namespace");
  });
});

describe("parseNetworks", () => {
  test("reads names, namespaces and interface names in order", () => {
    expect(parseNetworks("lan, infra/dmz ,store@data0", "default")).toEqual([
      { namespace: "default", name: "lan", ifname: undefined },
      { namespace: "infra", name: "dmz", ifname: undefined },
      { namespace: "default", name: "store", ifname: "data0" },
    ]);
  });

  test("keeps the same network twice", () => {
    expect(parseNetworks("lan,lan", "x")).toHaveLength(2);
  });

  test.each(["", ",", "lan,", " ,lan"])("refuses an empty name in %j", (list) => {
    expect(() => parseNetworks(list, "default")).toThrow("a name is empty");
  });

  test.each([
    "a/b/c",
    "a@b@c",
    "Lan",
    "a@",
    "a@0123456789abcdef",
    "a@x/y",
    "a@x:1",
    "a@x y",
    "a@..",
    "a@.",
    "../a",
    "a/@x",
    "[{}]",
  ])("refuses %j", (item) => {
    expect(() => parseNetwork(item, "default")).toThrow("Cannot use");
  });
});

describe("texts", () => {
  test("networkText is the annotation's short form", () => {
    expect(networkText({ namespace: "a", name: "b", ifname: undefined })).toBe("a/b");
    expect(networkText({ namespace: "a", name: "b", ifname: "c" })).toBe("a/b@c");
  });

  test("netnsName differs for pods of the same name in two namespaces, whatever their names", () => {
    const names = [
      ["default", "a-b"],
      ["a", "b"],
      ["default", "b"],
      ["a-b", "b"],
    ].map(([namespace = "", name = ""]) => netnsName({ namespace, name }));
    expect(new Set(names).size).toBe(4);
    expect(netnsName({ namespace: "default", name: "web" })).toBe("levee-web");
    expect(podText({ namespace: "default", name: "web" })).toBe("default/web");
  });
});
