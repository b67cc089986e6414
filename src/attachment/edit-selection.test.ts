import { describe, expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import { withNetwork, withoutNetwork } from "./edit-selection.ts";

const shop = "shop" as Namespace;
const lan = { namespace: "shop", name: "lan", ifname: undefined };

describe("withNetwork", () => {
  test("keeps the grammar and the bytes of the other entries", () => {
    expect(withNetwork("", shop, lan)).toBe("lan");
    expect(withNetwork("a, b@x", shop, { ...lan, ifname: "net5" })).toBe("a, b@x,lan@net5");
    expect(withNetwork("a", shop, { ...lan, namespace: "far" })).toBe("a,far/lan");
    const odd = '[ {"name":"a","cni-args":{"id":9007199254740993}} ]';
    expect(withNetwork(odd, shop, { ...lan, namespace: "far", ifname: "x" })).toContain('"id":9007199254740993}}');
    expect(withNetwork(odd, shop, { ...lan, ifname: "x" })).toContain('{"name":"lan","interface":"x"}');
    expect(withNetwork("[]", shop, lan)).toBe('[{"name":"lan"}]');
  });

  test("refuses to add to an annotation that cannot be read", () => {
    expect(() => withNetwork("[{", shop, lan)).toThrow();
  });
});

describe("withoutNetwork", () => {
  test("removes the entries that are meant, and says how many", () => {
    expect(withoutNetwork("a,lan@net1,lan@net2", shop, lan)).toEqual({ text: "a", removed: 2 });
    expect(withoutNetwork("lan@net1,lan@net2", shop, { ...lan, ifname: "net2" })).toEqual({
      text: "lan@net1",
      removed: 1,
    });
    expect(withoutNetwork("lan", shop, lan)).toEqual({ text: "[]", removed: 1 });
    expect(withoutNetwork("other/lan", shop, lan)).toEqual({ text: "other/lan", removed: 0 });
    expect(withoutNetwork('[{"name":"lan"},{"name":"a","x":1.0}]', shop, lan)).toEqual({
      text: '[{"name":"a","x":1.0}]',
      removed: 1,
    });
    expect(withoutNetwork("", shop, lan)).toEqual({ text: "[]", removed: 0 });
  });
});
