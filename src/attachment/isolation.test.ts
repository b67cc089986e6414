import { describe, expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import { checkIsolation, parseGlobalNamespaces } from "./isolation.ts";
import { parseSelection } from "./selection.ts";

const pod = "web" as Namespace;

describe("parseGlobalNamespaces", () => {
  test("is default when unset, and only what is listed when set", () => {
    expect(parseGlobalNamespaces(undefined)).toEqual(["default"]);
    expect(parseGlobalNamespaces("")).toEqual(["default"]);
    expect(parseGlobalNamespaces(" foo,bar ,default")).toEqual(["foo", "bar", "default"]);
    expect(parseGlobalNamespaces("foo")).toEqual(["foo"]);
  });
});

describe("checkIsolation", () => {
  const check = (isEnabled: boolean, setting: string | undefined, annotation: string) => (): void =>
    checkIsolation(
      { isEnabled, globalNamespaces: parseGlobalNamespaces(setting) },
      pod,
      parseSelection(annotation, pod),
    );

  test("lets everything through when off", () => {
    expect(check(false, undefined, "kube-system/a,other/b")).not.toThrow();
  });

  test("allows the pod's own namespace and the global ones", () => {
    expect(check(true, undefined, "a,web/b,default/c")).not.toThrow();
    expect(check(true, "infra, shared", "a,shared/c")).not.toThrow();
    expect(check(true, undefined, "")).not.toThrow();
  });

  test("refuses another namespace with Multus' text", () => {
    expect(check(true, undefined, "a,kube-system/b")).toThrow(
      "GetNetworkDelegates: namespace isolation enabled, annotation violates permission, pod is in namespace web but refers to target namespace kube-system",
    );
    expect(check(true, "infra", "default/c")).toThrow("target namespace default");
  });
});
