import { describe, expect, test } from "bun:test";
import { foldKey, isSameKey } from "./fold-key.ts";

describe("isSameKey", () => {
  test.each([
    ["type", "Type"],
    ["cniVersion", "CNIVERSION"],
    ["cniVersion", "cniVer\u017fion"],
    ["key", "\u212aEY"],
    ["cni.dev/valid-attachments", "CNI.dev/Valid-Attachments"],
  ])("Go reads %j and %j into one field", (left, right) => {
    expect([isSameKey(left, right), isSameKey(right, left)]).toEqual([true, true]);
  });

  test.each([
    ["address", "addre\u00df"],
    ["address", "addre\u1e9e"],
    ["ips", "\u0131ps"],
    ["ips", "\u0130ps"],
    ["ips", "ip"],
    ["name", "names"],
    ["infiniband-guid", "in\ufb01niband-guid"],
    ["a-b", "a_b"],
  ])("but not %j and %j", (left, right) => {
    expect([isSameKey(left, right), isSameKey(right, left)]).toEqual([false, false]);
  });

  test("of all characters, only capitals, the long s and the Kelvin sign stand for a letter", () => {
    const letters = "abcdefghijklmnopqrstuvwxyz";
    const found: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      const character = String.fromCodePoint(point);
      if (foldKey(character).length === 1 && letters.includes(foldKey(character))) found.push(character);
    }
    expect(found.join("")).toBe(`${letters.toUpperCase()}${letters}\u017f\u212a`);
  });
});
