import { expect, test } from "bun:test";
import type { IfName, Namespace, NetworkName } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import { changeWords, failedChangeText, failedParts, unchangedText } from "./change-words.ts";

const old = { network: "default/lan" as NetworkName, ifname: "net1" as IfName } as Chain; // only what is told
const element = { name: "dmz", namespace: "shop" as Namespace, unknownKeys: [] };
const swap = { leaving: [old], joining: { element, ifname: "net1" as IfName } };

test("changeWords names every network and interface of a change", () => {
  expect(changeWords(swap)).toBe("detach default/lan (net1) and attach shop/dmz as net1");
  expect(changeWords({ leaving: [old] })).toBe("detach default/lan (net1)");
});

test("failedParts reads what an event says has failed", () => {
  const [detach, attach] = [
    { verb: "detach", network: "default/lan", ifname: "net1" },
    { verb: "attach", network: "shop/dmz", ifname: "net1" },
  ] as const;
  expect(failedParts(failedChangeText(swap, "no luck: attach a/b as net3"))).toEqual([detach, attach]);
  expect(failedParts(failedChangeText({ leaving: [old] }, "no"))).toEqual([detach]);
  expect(failedParts(unchangedText("it is no JSON"))).toBeUndefined();
  expect(failedParts("Could not find anything")).toEqual([]);
  expect(failedParts("words of another controller")).toEqual([]);
});
