import { expect, test } from "bun:test";
import type { Hand } from "../../hands/hand.ts";
import type { BridgePorts } from "../../readiness/uplink-rules.ts";
import { findUplinks } from "./look-at-uplinks.ts";

/** A host by its folders. Null: the look fails. */
type Folders = Readonly<Record<string, readonly string[] | null>>;

function handOn(folders: Folders): { readonly hand: Hand; readonly looks: string[] } {
  const looks: string[] = [];
  const fake = {
    supports: () => true,
    list: (folder: string) => {
      looks.push(folder);
      const names = folders[folder];
      if (names === null) return Promise.reject(new Error("the hand is gone"));
      const content = Buffer.from(folder === "/proc/net/vlan" ? "VID: 57\nDevice: eth1\n" : "up\n");
      const entries = names?.map((name) => ({ name, content }));
      return Promise.resolve(entries && { entries, isTruncated: false });
    },
  };
  return { hand: fake as unknown as Hand, looks }; // only what a look needs
}

async function portsOf(
  folders: Folders,
  { named = [] as readonly string[], wantsVlans = false } = {},
): Promise<BridgePorts> {
  const { hand } = handOn(folders);
  return (await findUplinks(hand, { bridges: ["br0"], named: new Set(named), wantsVlans })).get("br0");
}

const brif = "/sys/class/net/br0/brif";
const guests = ["tap0", "tap1", "tap2", "tap3", "tap4", "tap5", "tap6", "tap7", "tap8"];
const there = (names: readonly string[]): Folders =>
  Object.fromEntries(names.map((name) => [`/sys/class/net/${name}/.`, ["operstate"]]));

test.each([
  ["a named uplink", "vnet9", { named: ["vnet9"] }],
  ["a device of a VLAN", "zvlan", { wantsVlans: true }],
  ["a port that no guest has", "xeth1", {}],
])("findUplinks looks at %s before the ports of guests, of which there may be many", async (_what, uplink, wish) => {
  const names = [...guests, uplink, "veth0a1b"];
  const ports = await portsOf({ [brif]: names, "/proc/net/vlan": ["zvlan"], ...there([...guests, uplink]) }, wish);
  expect(ports?.[0]).toMatchObject({ name: uplink, isUp: true });
  expect(ports).toHaveLength(10);
});

test("findUplinks asks for the state of eight ports, and that of the others is not seen", async () => {
  const { hand, looks } = handOn({ [brif]: guests, ...there(guests) });
  const ports = (await findUplinks(hand, { bridges: ["br0"], named: new Set(), wantsVlans: false })).get("br0");
  expect(looks).toHaveLength(9);
  expect(ports?.slice(7)).toMatchObject([
    { name: "tap7", isUp: true },
    { name: "tap8", isUp: undefined },
  ]);
});

test("findUplinks tells an interface that is no bridge from one that it could not see", async () => {
  expect(await portsOf({ "/sys/class/net/br0/.": ["flags", "operstate"] })).toBe("no-bridge");
  expect(await portsOf({ "/sys/class/net/br0/.": ["bridge", "flags"] })).toBeUndefined();
  expect(await portsOf({})).toBeUndefined();
  expect(await portsOf({ [brif]: null, "/sys/class/net/br0/.": ["flags"] })).toBeUndefined();
});

test("a failed look at VLANs leaves the ports, with a VLAN that was not seen", async () => {
  const ports = await portsOf({ [brif]: ["eth1"], "/proc/net/vlan": null, ...there(["eth1"]) }, { wantsVlans: true });
  expect(ports).toEqual([{ name: "eth1", isUp: true, vlan: "unseen" }]);
});
