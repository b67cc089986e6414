import { expect, test } from "bun:test";
import type { JsonText } from "../base/brand.ts";
import type { Chain, RouteEdit } from "./chain.ts";
import { finalResult } from "./final-result.ts";

const noEdit: RouteEdit = { dropV4: false, dropV6: false, gateways: [] };

function final(result: string, cniVersion: string, routes = noEdit): string {
  return finalResult({ cniVersion, routes } as Chain, result as JsonText); // only what it uses
}

test("finalResult leaves the bytes of a result of the configuration's version", () => {
  const text = '{"ips":[],"cniVersion":"1.0.0","own":1.50}';
  expect(final(text, "1.0.0")).toBe(text);
});

test("finalResult converts a newer and an older result", () => {
  expect(final('{"cniVersion":"1.1.0","ips":[{"address":"10.0.0.2/24"}]}', "0.4.0")).toBe(
    '{"cniVersion": "0.4.0","ips": [{"version": "4","address": "10.0.0.2/24"}],"dns": {}}',
  );
  expect(final('{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24"}}', "1.0.0")).toBe(
    '{"cniVersion": "1.0.0","ips": [{"address": "10.0.0.2/24"}]}',
  );
});

test("finalResult edits the default routes before it converts", () => {
  const text = '{"cniVersion":"1.1.0","routes":[{"dst":"0.0.0.0/0"},{"dst":"10.1.0.0/16"}]}';
  expect(final(text, "1.0.0", { ...noEdit, dropV4: true })).toBe(
    '{"cniVersion": "1.0.0","routes": [{"dst": "10.1.0.0/16"}]}',
  );
});

test.each(['{"cniVersion":"9.9.9"}', '{"cniVersion":"1.1.0","ips":[{"address":"none"}]}'])(
  "finalResult leaves %s, which it cannot read",
  (text) => {
    expect(final(text, "1.0.0")).toBe(text);
  },
);
