import { describe, expect, test } from "bun:test";
import type { IfName, JsonText, NetworkName } from "../base/brand.ts";
import type { Chain, RouteEdit } from "../cni/chain.ts";
import { asJsonText } from "../cni/json-text.ts";
import { printResult } from "../cni/result.ts";
import { editRoutes, mergeResults } from "./merge.ts";

function json(text: string): JsonText {
  return asJsonText(text, "a test");
}

function chain(more: Partial<Chain>): Chain {
  return {
    network: "cbr0" as NetworkName,
    confName: "cbr0",
    ifname: "eth0" as IfName,
    cniVersion: "1.0.0",
    isDefault: true,
    cniArgs: "",
    links: [],
    disableCheck: false,
    disableGC: false,
    routes: { dropV4: false, dropV6: false, gateways: [] },
    multus: { config: json("{}"), isList: false, capabilityArgs: {}, request: {} },
    ...more,
  };
}

const v4 = { dst: "0.0.0.0/0", gw: "10.0.0.1" };
const v6 = { dst: "::/0", gw: "fd00::1" };
const net = { dst: "10.9.0.0/16", gw: "10.0.0.9" };

describe("editRoutes", () => {
  const edits: [string, RouteEdit, object[]][] = [
    ["leaves routes alone", { dropV4: false, dropV6: false, gateways: [] }, [v4, net, v6, v4]],
    ["drops every IPv4 default route and no other", { dropV4: true, dropV6: false, gateways: [] }, [net, v6]],
    ["drops the IPv6 default route and no other", { dropV4: false, dropV6: true, gateways: [] }, [v4, net, v4]],
    ["drops both", { dropV4: true, dropV6: true, gateways: [] }, [net]],
    [
      "adds gateways of both families",
      { dropV4: true, dropV6: true, gateways: ["10.1.1.1", "fd00::9"] },
      [net, { dst: "0.0.0.0/0", gw: "10.1.1.1" }, { dst: "::/0", gw: "fd00::9" }],
    ],
  ];
  test.each(edits)("%s", (_, edit, after) => {
    expect(editRoutes([v4, net, v6, v4], edit)).toEqual(after as never);
  });

  test("works where there were no routes", () => {
    expect(editRoutes([], { dropV4: true, dropV6: true, gateways: ["10.1.1.1"] })).toEqual([
      { dst: "0.0.0.0/0", gw: "10.1.1.1" },
    ]);
  });

  test("takes a gateway that is no address for a defect", () => {
    expect(() => editRoutes([], { dropV4: true, dropV6: true, gateways: ["x"] })).toThrow(
      "the gateway is no IP address: current value is x",
    );
  });
});

describe("mergeResults", () => {
  const answer = json(
    '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/24"}],"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"10.9.0.0/16"}]}',
  );
  const other = json('{"cniVersion":"1.0.0","ips":[{"address":"10.1.1.2/24"}]}');

  test("answers with the default network's result alone", () => {
    const result = mergeResults([chain({}), chain({ isDefault: false })], [answer, other]);
    expect(result.ips).toEqual([{ address: "10.0.0.2/24" }]);
    expect(result.routes).toHaveLength(2);
  });

  test("says what the route edits left", () => {
    const moved = chain({ routes: { dropV4: true, dropV6: true, gateways: [] } });
    expect(mergeResults([moved], [answer]).routes).toEqual([{ dst: "10.9.0.0/16" }]);
    const own = chain({ routes: { dropV4: true, dropV6: true, gateways: ["10.0.0.254"] } });
    expect(mergeResults([own], [answer]).routes.at(-1)).toEqual({ dst: "0.0.0.0/0", gw: "10.0.0.254" });
  });

  test.each(["0.2.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"])("edits routes of a %s result", (version) => {
    const text = json(printResult(mergeResults([chain({})], [answer]), version));
    const moved = chain({ cniVersion: version, routes: { dropV4: true, dropV6: false, gateways: ["10.1.1.1"] } });
    expect(mergeResults([moved], [text]).routes).toEqual([
      { dst: "10.9.0.0/16" },
      { dst: "0.0.0.0/0", gw: "10.1.1.1" },
    ]);
  });

  test("reads a result without a version in the chain's", () => {
    const text = json('{"ip4":{"ip":"10.0.0.2/24"}}');
    expect(mergeResults([chain({ cniVersion: "0.2.0" })], [text]).ips).toEqual([{ address: "10.0.0.2/24" }]);
  });

  test("names the network when its result cannot be read", () => {
    expect(() => mergeResults([chain({})], [json('{"ips":1}')])).toThrow(
      "Cannot read the result of cbr0: ips must be an array: current value is 1",
    );
    expect(() => mergeResults([chain({})], [json('{"cniVersion":"0.9.0"}')])).toThrow(
      "Cannot use the result of cbr0: its cniVersion must be one of",
    );
  });

  test("takes a missing default result for a defect", () => {
    expect(() => mergeResults([chain({})], [])).toThrow("no result of the default network");
    expect(() => mergeResults([chain({ isDefault: false })], [answer])).toThrow("no result of the default network");
  });
});
