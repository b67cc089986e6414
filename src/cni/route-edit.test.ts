import { describe, expect, test } from "bun:test";
import type { JsonText } from "../base/brand.ts";
import { withRouteEdit } from "./route-edit.ts";

function edited(text: string, edit: Partial<Parameters<typeof withRouteEdit>[1]>): string {
  return withRouteEdit(text as JsonText, { dropV4: false, dropV6: false, gateways: [], ...edit });
}

describe("withRouteEdit", () => {
  const result = `{"cniVersion":"1.0.0", "x":1.0,"routes":[{"dst":"0.0.0.0/0","gw":"10.0.0.1"}, {"dst":"10.1.0.0/16","x":2.0},{"dst":"::/0"}]}`;

  test("leaves a result without an edit as it is, byte for byte", () => {
    expect(edited(result, {})).toBe(result);
  });

  test("drops the default routes of a family and keeps the others' text", () => {
    expect(edited(result, { dropV4: true })).toBe(
      `{"cniVersion":"1.0.0", "x":1.0,"routes":[{"dst":"10.1.0.0/16","x":2.0},{"dst":"::/0"}]}`,
    );
    expect(edited(result, { dropV6: true })).toContain(
      `[{"dst":"0.0.0.0/0","gw":"10.0.0.1"},{"dst":"10.1.0.0/16","x":2.0}]`,
    );
  });

  test("drops every copy, and adds the gateways in place of it", () => {
    const twice = `{"routes":[{"dst":"0.0.0.0/0"},{"dst":"0.0.0.0/0","priority":5}]}`;
    expect(edited(twice, { dropV4: true, gateways: ["10.9.0.1"] })).toBe(
      `{"routes":[{"dst":"0.0.0.0/0","gw":"10.9.0.1"}]}`,
    );
  });

  test("a gateway replaces the default route of its family, and doing it twice changes nothing", () => {
    const once = edited(result, { gateways: ["10.9.0.1"] });
    expect(once).toContain(`[{"dst":"10.1.0.0/16","x":2.0},{"dst":"::/0"},{"dst":"0.0.0.0/0","gw":"10.9.0.1"}]`);
    expect(edited(once, { gateways: ["10.9.0.1"] })).toBe(once);
  });

  test("adds routes to a result that has none", () => {
    for (const text of ["{}", '{"routes":null}', '{"routes":[]}']) {
      expect(JSON.parse(edited(text, { dropV4: true, gateways: ["10.9.0.1", "fd00::1"] }))).toEqual({
        routes: [
          { dst: "0.0.0.0/0", gw: "10.9.0.1" },
          { dst: "::/0", gw: "fd00::1" },
        ],
      });
    }
  });

  test("takes the two spellings of the IPv6 default for one", () => {
    expect(edited('{"routes":[{"dst":"::0/0"}]}', { dropV6: true })).toBe('{"routes":[]}');
  });

  test("edits the routes below ip4 and ip6 of old results", () => {
    const old =
      '{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24","routes":[{"dst":"0.0.0.0/0"}]},"ip6":{"ip":"fd00::2/64"}}';
    expect(edited(old, { dropV4: true, dropV6: true, gateways: ["fd00::1"] })).toBe(
      '{"cniVersion":"0.2.0","ip4":{"ip":"10.0.0.2/24","routes":[]},"ip6":{"ip":"fd00::2/64","routes":[{"dst":"::/0","gw":"fd00::1"}]}}',
    );
  });

  test("leaves what it cannot read", () => {
    const odd = '{"routes":[1,{"dst":5},{"dst":"nonsense"},{}]}';
    expect(edited(odd, { dropV4: true, dropV6: true })).toBe(odd);
  });
});
