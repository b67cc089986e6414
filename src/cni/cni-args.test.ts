import { describe, expect, test } from "bun:test";
import { argOf, noArgs, parseCniArgs, pluginArgs, podArgs } from "./cni-args.ts";

const kubelet =
  "IgnoreUnknown=1;K8S_POD_NAMESPACE=web;K8S_POD_NAME=traefik-0;K8S_POD_INFRA_CONTAINER_ID=c0ffee;K8S_POD_UID=u-1";

describe("parseCniArgs", () => {
  test("keeps order, duplicates and '=' in values", () => {
    expect(parseCniArgs("B=2;A=foo=bar;B=").pairs).toEqual([
      ["B", "2"],
      ["A", "foo=bar"],
      ["B", ""],
    ]);
  });

  test("takes an empty text and a ';' at the end", () => {
    expect(parseCniArgs("")).toEqual({ pairs: [] });
    expect(parseCniArgs("A=1;").pairs).toEqual([["A", "1"]]);
    expect(parseCniArgs(";;A=1;;B=2;").pairs).toEqual([
      ["A", "1"],
      ["B", "2"],
    ]);
  });

  test.each(["A", "=1", "A=1;B", "A=\0"])("refuses %j", (text) => {
    expect(() => parseCniArgs(text)).toThrow("Cannot use CNI_ARGS: each pair must be KEY=VALUE");
  });

  test("names every bad pair", () => {
    expect(() => parseCniArgs("A;B=1;=x")).toThrow('current value has "A;=x"');
  });
});

describe("argOf", () => {
  test("takes the last of several", () => {
    expect(argOf(parseCniArgs("A=1;A=2"), "A")).toBe("2");
    expect(argOf(noArgs, "A")).toBeUndefined();
  });
});

describe("podArgs", () => {
  test("reads what kubelet's runtimes send", () => {
    expect(podArgs(parseCniArgs(kubelet)) as object).toEqual({
      namespace: "web",
      name: "traefik-0",
      infraContainerId: "c0ffee",
      uid: "u-1",
    });
  });

  test("leaves out what is absent or empty", () => {
    expect(podArgs(noArgs)).toEqual({});
    expect(podArgs(parseCniArgs("K8S_POD_NAME=;K8S_POD_UID=;K8S_POD_INFRA_CONTAINER_ID="))).toEqual({});
  });

  test.each(["../etc", "a/b", "A", "a..b", "-a", "a-", "a".repeat(254)])("refuses the pod name %j", (name) => {
    expect(() => podArgs(parseCniArgs(`K8S_POD_NAME=${name}`))).toThrow("K8S_POD_NAME must be a Kubernetes name");
    expect(() => podArgs(parseCniArgs(`K8S_POD_NAMESPACE=${name}`))).toThrow(
      "K8S_POD_NAMESPACE must be a Kubernetes name",
    );
  });
});

describe("pluginArgs", () => {
  test("starts with Multus' five in their order", () => {
    expect(
      pluginArgs(
        parseCniArgs("K8S_POD_UID=u;K8S_POD_NAME=p;K8S_POD_NAMESPACE=n;IgnoreUnknown=0;K8S_POD_INFRA_CONTAINER_ID=c"),
      ),
    ).toBe("IgnoreUnknown=true;K8S_POD_NAMESPACE=n;K8S_POD_NAME=p;K8S_POD_INFRA_CONTAINER_ID=c;K8S_POD_UID=u");
  });

  test("sends empty values for what the runtime did not say", () => {
    expect(pluginArgs(noArgs)).toBe(
      "IgnoreUnknown=true;K8S_POD_NAMESPACE=;K8S_POD_NAME=;K8S_POD_INFRA_CONTAINER_ID=;K8S_POD_UID=",
    );
  });

  test("hands on other arguments in their order, with '=' in them, then MAC and IP", () => {
    const args = parseCniArgs(`Z=1;${kubelet};BLAHBLAH=foo=bar`);
    expect(pluginArgs(args, { mac: "02:00:00:00:00:01", ips: ["10.0.0.2/24", "fd00::2/64"] })).toBe(
      "IgnoreUnknown=true;K8S_POD_NAMESPACE=web;K8S_POD_NAME=traefik-0;K8S_POD_INFRA_CONTAINER_ID=c0ffee;K8S_POD_UID=u-1;Z=1;BLAHBLAH=foo=bar;MAC=02:00:00:00:00:01;IP=10.0.0.2/24,fd00::2/64",
    );
  });

  test("leaves out what it is told to, and an empty list of addresses", () => {
    expect(pluginArgs(parseCniArgs("IP=10.0.0.9;A=1;MAC=x"), { omit: ["IP", "MAC"], ips: [] })).toEndWith(
      "K8S_POD_UID=;A=1",
    );
  });
});
