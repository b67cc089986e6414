import { describe, expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import { checkIsolation } from "./isolation.ts";
import { parseSelection } from "./selection.ts";

const pod = "web" as Namespace;

describe("checkIsolation", () => {
  const check = (isEnabled: boolean, globalNamespaces: readonly string[], annotation: string) => (): void =>
    checkIsolation({ isEnabled, globalNamespaces }, pod, parseSelection(annotation, pod));

  test("lets everything through when off", () => {
    expect(check(false, ["default"], "kube-system/a,other/b")).not.toThrow();
  });

  test("allows the pod's own namespace and the global ones", () => {
    expect(check(true, ["default"], "a,web/b,default/c")).not.toThrow();
    expect(check(true, ["infra", "shared"], "a,shared/c")).not.toThrow();
    expect(check(true, ["default"], "")).not.toThrow();
  });

  test("refuses another namespace with Multus' text", () => {
    expect(check(true, ["default"], "a,kube-system/b")).toThrow(
      "GetNetworkDelegates: namespace isolation enabled, annotation violates permission, pod is in namespace web but refers to target namespace kube-system",
    );
    expect(check(true, ["infra"], "default/c")).toThrow("target namespace default");
  });
});
