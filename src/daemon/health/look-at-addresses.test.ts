import { expect, test } from "bun:test";
import type { Hand } from "../../hands/hand.ts";
import { placeAddresses } from "./look-at-addresses.ts";

/** A host by its folders: names of files, or contents. */
function handOn(folders: Readonly<Record<string, Readonly<Record<string, string>>>>): Hand {
  const fake = {
    supports: () => true,
    list: (folder: string) => {
      const files = folders[folder];
      const entries = Object.entries(files ?? {}).map(([name, text]) => ({ name, content: Buffer.from(text) }));
      return Promise.resolve(files === undefined ? undefined : { entries, isTruncated: false });
    },
  };
  return fake as unknown as Hand; // only what a look needs
}

const host = handOn({
  "/proc/net/vlan": {
    "config": "VLAN Dev name | VLAN ID\n",
    "eth1.57": "eth1.57  VID: 57\nDevice: eth1\n",
    "prod": "prod  VID: 58\nDevice: eth1\n",
  },
  "/sys/class/net/eth1/.": { "upper_eth1.57": "", "upper_prod": "", "upper_shim": "", "flags": "0x1003" },
  "/sys/class/net/eth1.57/.": { lower_eth1: "", upper_br57: "" },
  "/sys/class/net/prod/.": { lower_eth1: "" },
  "/sys/class/net/shim/.": { lower_eth1: "" },
  "/sys/class/net/br57/.": { "lower_eth1.57": "", "lower_veth0a": "" },
});

async function segmentsOf(ifname: string, hand = host): Promise<ReadonlySet<string>> {
  const [placed] = await placeAddresses(hand, [{ ifname, text: "10.1.0.9" }]);
  return placed?.segments ?? new Set();
}

test.each([
  ["eth1", "link eth1 0", true],
  // A VLAN above or below is another segment.
  ["eth1", "link eth1 57", false],
  ["eth1.57", "link eth1 57", true],
  ["eth1.57", "link eth1 0", false],
  ["eth1.57", "bridge br57 0", true],
  ["prod", "link eth1 58", true],
  ["prod", "link prod 0", true],
  ["prod", "link eth1 0", false],
  // An interface of the host beside those of pods, on one master.
  ["shim", "link eth1 0", true],
  ["br57", "bridge br57 0", true],
  ["br57", "bridge br57 57", false],
] as const)("placeAddresses: an address of %s and the segment %s", async (ifname, segment, isOn) => {
  expect((await segmentsOf(ifname)).has(segment)).toBe(isOn);
});

test("placeAddresses knows an interface by its name where nothing else can be seen", async () => {
  expect(await segmentsOf("br0", handOn({}))).toContain("bridge br0 0");
  expect(await segmentsOf("../eth0", handOn({}))).toEqual(new Set());
});
