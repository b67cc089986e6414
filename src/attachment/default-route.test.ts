import { describe, expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import type { RouteEdit } from "../cni/chain.ts";
import { planDefaultRoutes } from "./default-route.ts";
import type { SelectionElement } from "./selection-element.ts";

/** Elements with these default-route values; undefined has none, null is no element at all. */
function plan(...wishes: (readonly string[] | undefined | null)[]): RouteEdit[] {
  return planDefaultRoutes(
    wishes.map((wish): SelectionElement | undefined => {
      if (wish === null) return undefined;
      const base = { name: "n", namespace: "web" as Namespace, unknownKeys: [] };
      return wish === undefined ? base : { ...base, defaultRoute: wish };
    }),
  );
}

const dropBoth = { dropV4: true, dropV6: true };

describe("planDefaultRoutes", () => {
  test("touches nothing without a default-route", () => {
    const untouched = { dropV4: false, dropV6: false, gateways: [] };
    expect(plan(null, undefined, undefined)).toEqual([untouched, untouched, untouched]);
    expect(plan()).toEqual([]);
  });

  test("moves the default route to the one that asks", () => {
    expect(plan(null, undefined, ["10.1.1.1"])).toEqual([
      { dropV4: true, dropV6: false, gateways: [] },
      { dropV4: true, dropV6: false, gateways: [] },
      { dropV4: true, dropV6: false, gateways: ["10.1.1.1"] },
    ]);
    expect(plan(null, ["10.1.1.1", "fd00::1"])).toEqual([
      { ...dropBoth, gateways: [] },
      { ...dropBoth, gateways: ["10.1.1.1", "fd00::1"] },
    ]);
  });

  test("leaves a family without a gateway alone", () => {
    expect(plan(null, ["fd00::1"]).map((edit) => [edit.dropV4, edit.dropV6])).toEqual([
      [false, true],
      [false, true],
    ]);
  });

  test("takes one gateway per family, from one element or from two", () => {
    expect(plan(null, ["10.1.1.1", "fd00::1"]).map((edit) => edit.gateways)).toEqual([[], ["10.1.1.1", "fd00::1"]]);
    expect(plan(null, ["10.1.1.1"], ["fd00::1"]).map((edit) => edit.gateways)).toEqual([[], ["10.1.1.1"], ["fd00::1"]]);
  });

  test("lets an element with an empty list keep its plugin's own default route", () => {
    expect(plan(null, [], undefined)).toEqual([
      { ...dropBoth, gateways: [] },
      { dropV4: false, dropV6: false, gateways: [] },
      { ...dropBoth, gateways: [] },
    ]);
  });

  test("lets an empty list keep only the family that no gateway was named for", () => {
    expect(plan(null, [], ["10.1.1.1"])[1]).toEqual({ dropV4: true, dropV6: false, gateways: [] });
    expect(plan(null, [], ["fd00::1"])[1]).toEqual({ dropV4: false, dropV6: true, gateways: [] });
  });

  test("serves a default network chosen by annotation as well", () => {
    expect(plan(["10.1.1.1"], undefined)).toEqual([
      { dropV4: true, dropV6: false, gateways: ["10.1.1.1"] },
      { dropV4: true, dropV6: false, gateways: [] },
    ]);
  });

  test.each([
    [[["10.1.1.1", "10.1.1.2"]]],
    [[["10.1.1.1"], ["10.2.2.2"]]],
    [[["fd00::1"], ["fd00::2"]]],
    [[["10.1.1.1", "fd00::1"], ["fd00::2"]]],
    [[[], []]],
  ])("refuses more than one per family: %j", (wishes) => {
    expect(() => plan(null, ...wishes)).toThrow("multus does not support ECMP for default-route");
  });
});
