import { describe, expect, test } from "bun:test";
import type { Namespace } from "../base/brand.ts";
import { interfaceHolder, type HeldInterface } from "./interface-holder.ts";

const shop = "shop" as Namespace;
const eth0 = { name: "primary", ifname: "eth0", isDefault: true };

function has(name: string, ifname: string): HeldInterface {
  return { name, ifname, isDefault: false };
}

/** The annotation's entry that is in the way of another one as `ifname`, or the node's network; and whether only later. */
function inTheWay(annotation: string, ifname: string | undefined, ...status: readonly HeldInterface[]) {
  const found = interfaceHolder(annotation, shop, [eth0, ...status], { ifname });
  return found && `${found.entry ?? `(${found.network})`} ${found.ifname}${found.isLater ? " later" : ""}`;
}

describe("interfaceHolder", () => {
  test("finds the entry of the annotation that names the interface", () => {
    expect(inTheWay("lan@net1", "net1", has("shop/lan", "net1"))).toBe("shop/lan@net1 net1");
    expect(inTheWay("a,far/lan@net1", "net1")).toBe("far/lan@net1 net1");
    expect(inTheWay('[{"name":"lan","interface":"net1"}]', "net1")).toBe("shop/lan@net1 net1");
    expect(inTheWay("lan@net1", "net2", has("shop/lan", "net1"))).toBeUndefined();
    expect(inTheWay("", "net1")).toBeUndefined();
  });

  test("an entry without a name has the interface of network-status", () => {
    expect(inTheWay("lan", "net3", has("shop/lan", "net3"))).toBe("shop/lan net3");
    expect(inTheWay("lan", "net2", has("shop/lan", "net3"))).toBeUndefined();
  });

  test("an entry without a name gets its place when the pod starts, behind the node's networks", () => {
    expect(inTheWay("lan,dmz", "net2")).toBe("shop/dmz net2 later");
    expect(inTheWay("lan", "net1", has("shop/lan", "net3"))).toBe("shop/lan net1 later");
    const ofNode = has("kube-system/all", "net1");
    expect(inTheWay("lan", "net2", ofNode)).toBe("shop/lan net2 later");
    expect(inTheWay("a@x,lan", "net2", ofNode)).toBeUndefined();
    expect(interfaceHolder("lan", shop, [], { ifname: "net1" })).toMatchObject({ network: "shop/lan", isLater: true });
  });

  test("a network without a name is in the way of one that has the name of its place", () => {
    expect(inTheWay("lan@net2", undefined)).toBe("shop/lan@net2 net2 later");
    expect(inTheWay("lan@net1", undefined)).toBeUndefined();
    expect(inTheWay("lan", undefined)).toBeUndefined();
  });

  test("the default network's interface is never free, and that of a network that goes is", () => {
    expect(inTheWay("", "eth0")).toBe("(primary) eth0");
    expect(inTheWay("", "net7", has("aux", "net7"))).toBe("(aux) net7");
    expect(inTheWay("[]", "net1", has("shop/lan", "net1"))).toBeUndefined();
  });
});
