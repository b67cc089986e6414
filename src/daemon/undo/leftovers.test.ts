import { expect, test } from "bun:test";
import type { NetworkName, PluginType } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import { aChain, aRecord, bootId, json } from "../../state/journal/record.fixture.ts";
import { HeldAddresses } from "./held-addresses.ts";
import { Leftovers } from "./leftovers.ts";

const record = aRecord(1);
const now = { path: record.netns.path, identity: record.netns.identity };
const hostLocal = { type: "host-local", dataDir: "/leases" };

interface Node {
  readonly conf?: Readonly<Record<string, unknown>>;
  readonly type?: string;
  readonly links?: readonly string[] | Error | "truncated" | "never";
  /** The content of host-local's files. */
  readonly leases?: readonly string[];
  readonly hasResident?: boolean;
  readonly isNetnsGone?: boolean;
  /** Whether the call names no namespace. */
  readonly isUnnamed?: boolean;
  /** What ADD failed with; the undo says "no". */
  readonly addFailed?: string;
  /** How many plugins had succeeded at ADD. */
  readonly linksAdded?: number;
}

/** Whether the failure of one plugin still counts on such a node. */
async function isLeft({ conf = {}, type = "macvlan", links = ["lo"], leases = [], ...node }: Node): Promise<boolean> {
  const stdin = json(JSON.stringify({ cniVersion: "1.0.0", name: "lan", type, ...conf }));
  const link = { type: type as PluginType, stdin };
  const chain = aChain({ links: [link], network: "default/lan" as NetworkName });
  const hand = {
    isLost: false,
    stat: (paths: readonly string[]) =>
      Promise.resolve(paths.map((path) => (path === now.path && node.isNetnsGone !== true ? now.identity : undefined))),
    supports: () => true,
    links: () => {
      if (links === "never") return new Promise(() => undefined);
      if (links instanceof Error) return Promise.reject(links);
      return Promise.resolve(links === "truncated" ? { names: [], isTruncated: true } : { names: links });
    },
    list: (folder: string) =>
      Promise.resolve(
        folder === "/leases/lan"
          ? {
              entries: leases.map((content, at) => ({
                name: `10.0.0.${at + 2}`,
                kind: "file",
                changedWallMs: 0,
                content: Buffer.from(content),
              })),
              isTruncated: false,
            }
          : undefined,
      ),
  } as unknown as Hand; // only what it uses
  const leftovers = new Leftovers({
    bootId,
    clock: { ...systemClock, after: (ms, callback) => systemClock.after(ms / 100, callback) },
    config: { runtimeCniDir: "/var/lib/cni" },
    journal: { inNetns: () => [] },
    logger: silentLogger,
    residents: { hand: () => (node.hasResident === false ? undefined : hand) },
    addresses: new HeldAddresses(),
  });
  const failure = {
    index: 0,
    links: [link],
    error: new LeveeError("delegate-failed", "no"),
    hasTimedOut: false,
    linksAdded: node.linksAdded ?? 0,
  };
  const ofAdd =
    node.addFailed === undefined
      ? undefined
      : { code: "delegate-failed", cniCode: 999, message: node.addFailed, details: "" };
  const gone = { path: now.path, identity: undefined };
  const named = node.isNetnsGone === true ? gone : now;
  const place = { hand, now: node.isUnnamed === true ? { path: "", identity: undefined } : named };
  const left = await leftovers.leftBy({ ...record, chains: [chain], failure: ofAdd }, [failure], place);
  expect(left).toEqual(left.length === 0 ? [] : [failure]);
  return left.length > 0;
}

test.each<readonly [string, Node]>([
  ["without an interface and without IPAM", {}],
  ["without an interface, with an IPAM plugin that keeps nothing", { conf: { ipam: { type: "static" } } }],
  ["without an interface and without an address", { conf: { ipam: hostLocal }, leases: ["other\r\nnet1"] }],
  ["whose namespace is gone", { isNetnsGone: true, links: ["lo", "net1"], conf: { ipam: hostLocal } }],
  ["whose namespace is gone, and the call names none", { isUnnamed: true, isNetnsGone: true, links: ["lo", "net1"] }],
  ["without an interface, although the call names no namespace", { isUnnamed: true }],
  ["whose ADD met no DHCP daemon either", { type: "bridge", conf: { ipam: { type: "dhcp" } }, addFailed: "lan: no" }],
  ["whose folder of addresses does not exist", { conf: { ipam: { type: "host-local", dataDir: "/none" } } }],
])("Leftovers.leftBy drops the failure of a plugin %s", async (_what, node) => {
  expect(await isLeft(node)).toBe(false);
});

const lease = `${record.containerId}\r\nnet1`;

test.each<readonly [string, Node]>([
  ["whose interface is there", { links: ["lo", "net1"] }],
  ["whose interface is there, although the call names no namespace", { isUnnamed: true, links: ["lo", "net1"] }],
  ["whose namespace has too many interfaces to tell", { links: "truncated" }],
  ["whose namespace cannot be looked at", { links: new LeveeError("io-failed", "no") }],
  ["when the look takes too long", { links: "never" }],
  ["whose address is held", { conf: { ipam: hostLocal }, leases: [lease] }],
  ["whose address is held by an old host-local", { conf: { ipam: hostLocal }, leases: [record.containerId] }],
  [
    "whose address is held in another letter case",
    { conf: { IPAM: { Type: "host-local", DATADIR: "/leases" } }, leases: [lease] },
  ],
  [
    "whose address is held although its namespace is gone",
    { isNetnsGone: true, conf: { ipam: hostLocal }, leases: [lease] },
  ],
  ["whose addresses cannot be looked at", { conf: { ipam: hostLocal }, hasResident: false }],
  ["with another IPAM plugin", { conf: { ipam: { type: "whereabouts" } } }],
  ["with a DHCP lease", { type: "bridge", conf: { ipam: { type: "dhcp" } }, addFailed: "no", linksAdded: 1 }],
  ["whose ADD met a DHCP daemon", { type: "bridge", conf: { ipam: { type: "dhcp" } }, addFailed: "silence" }],
  ["that masquerades", { type: "bridge", conf: { ipMasq: true } }],
  ["that Levee does not know", { type: "sriov" }],
  ["that gives a device back", { type: "host-device", isNetnsGone: true }],
])("Leftovers.leftBy keeps the failure of a plugin %s", async (_what, node) => {
  expect(await isLeft(node)).toBe(true);
});
