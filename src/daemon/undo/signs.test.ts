import { expect, test } from "bun:test";
import type { ContainerId, IfName } from "../../base/brand.ts";
import { noArgs } from "../../cni/cni-args.ts";
import type { Hand } from "../../hands/hand.ts";
import type { LostContainer } from "./lost-container.ts";
import { Signs, type SignsNeeds } from "./signs.ts";

const container: LostContainer = {
  containerId: "c1" as ContainerId,
  ifname: "eth0" as IfName,
  args: noArgs,
  cniPath: "",
  now: { path: "/run/netns/a", identity: { device: 4n, inode: 9n } },
  config: () => Promise.reject(new Error("the shim does not tell")),
};

/** Looks with a hand that sees these links. The looks for a file and an address fail, as the configuration is missing. */
function found(names: readonly string[]): Promise<string | undefined> {
  const signs = new Signs({
    bootId: "boot",
    journal: { inNetns: () => [] },
    residents: { hand: () => undefined },
  } as unknown as SignsNeeds); // only what these looks use
  const hand = {
    isLost: false,
    supports: () => true,
    links: () => Promise.resolve({ names, isTruncated: false }),
    stat: () => Promise.resolve([undefined]),
  } as unknown as Hand; // only what it uses
  return signs.find(hand, container);
}

test("Signs.find says that it cannot tell when a look fails and no other finds a sign", async () => {
  const thrown = await found(["lo"]).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: "try-later" });
  expect(String(thrown)).toMatch(/Cannot see what is left of c1: .*the shim does not tell/u);
});

test("Signs.find is content with one sign, whatever the other looks would say", async () => {
  expect(await found(["lo", "eth0"])).toBe("eth0 is in /run/netns/a");
});
