import { expect, test } from "bun:test";
import type { ContainerId, IfName } from "../../base/brand.ts";
import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aChain, aRecord, bootId, json } from "../../state/journal/record.fixture.ts";
import { TakenNames } from "./taken-names.ts";

const netns = "/run/netns/a";
const numbers: NetnsIdentity = { device: 4n, inode: 9n };
const eth0 = new Set(["eth0"]);

/** What a namespace is and has, as the call told it and as a look finds it. */
interface Scene {
  readonly identity?: NetnsIdentity;
  readonly told?: string;
  /** Undefined for a shim that does not know LINKS. */
  readonly links?: readonly string[];
  readonly atRecordsPath?: NetnsIdentity;
}

function callIn(scene: Scene) {
  const looks: string[] = [];
  const { identity = numbers, told = "", links, atRecordsPath } = scene;
  const call = {
    header: { containerId: "new", netns, netnsIdentity: identity, links: told },
    hand: {
      supports: () => links !== undefined,
      links: () => {
        looks.push("links");
        return Promise.resolve({ names: links ?? [], isTruncated: false, users: undefined });
      },
      stat: () => {
        looks.push("stat");
        return Promise.resolve([atRecordsPath]);
      },
    },
  };
  return { call, looks };
}

/** A record of a container with eth0 in the namespace; `reported` is whether its plugin named the interface. */
function recordIn(identity: NetnsIdentity | undefined, change: Partial<AttachmentRecord> = {}, reported = true) {
  const chain = aChain({ ifname: "eth0" as IfName, multus: { ...aChain().multus, request: {} } });
  const interfaces = reported ? `{"name":"eth0","sandbox":"${netns}"}` : "";
  return aRecord(1, {
    containerId: "old" as ContainerId,
    ifname: "eth0" as IfName,
    netns: { path: netns, identity },
    bootId,
    phase: "acknowledged",
    chains: [chain],
    results: [json(`{"cniVersion":"1.0.0","interfaces":[${interfaces}]}`)],
    ...change,
  });
}

function namesWith(...records: readonly AttachmentRecord[]): TakenNames {
  const inNetns = (identity: NetnsIdentity): AttachmentRecord[] =>
    records.filter((record) => sameNetns(record.netns.identity, identity));
  return new TakenNames({ bootId, journal: { inNetns } });
}

test("refuse: most ADDs cost no look at all", async () => {
  const { call, looks } = callIn({ identity: { ...numbers, cookie: 2n }, told: "/lo/", links: ["lo"] });
  await namesWith(recordIn({ ...numbers, cookie: 1n }), recordIn(numbers, { bootId: "another" })).refuse(call, eth0);
  expect(looks).toEqual([]);
});

test("refuse: a name that is in the namespace, unless it is gone by now", async () => {
  const names = namesWith();
  expect(names.refuse(callIn({ told: "/lo/", links: ["lo"] }).call, new Set(["eth0", "lo"]))).rejects.toThrow(
    `there is an interface lo in ${netns} already`,
  );
  await names.refuse(callIn({ told: "/lo/eth0/", links: ["lo"] }).call, eth0);
  // An old shim tells none.
  await names.refuse(callIn({}).call, new Set(["lo"]));
});

test("refuse: a name of another container that is there, not one of a container whose interface is gone", async () => {
  for (const identity of [numbers, { ...numbers, cookie: 2n }]) {
    const names = namesWith(recordIn(identity));
    const scene = { identity: { ...numbers, cookie: 2n } };
    expect(names.refuse(callIn({ ...scene, links: ["lo", "eth0"] }).call, eth0)).rejects.toThrow(
      "belongs to container old",
    );
    await names.refuse(callIn({ ...scene, links: ["lo"] }).call, eth0);
    // What cannot be looked at counts as there.
    expect(names.refuse(callIn(scene).call, eth0)).rejects.toThrow("belongs to container old");
  }
});

test("refuse: a container that made no interface, or is not done, keeps its name", async () => {
  for (const record of [recordIn(numbers, {}, false), recordIn(numbers, { phase: "intent", results: [] })])
    expect(namesWith(record).refuse(callIn({ links: ["lo"] }).call, eth0)).rejects.toThrow("belongs to container old");
});

test("refuse: without cookies a record at another path counts only while its path leads there", async () => {
  const record = recordIn(numbers, { netns: { path: "/run/netns/b", identity: numbers } });
  await namesWith(record).refuse(callIn({ links: ["eth0"] }).call, eth0);
  const both = callIn({ links: ["eth0"], atRecordsPath: numbers }).call;
  expect(namesWith(record).refuse(both, eth0)).rejects.toThrow("belongs to container old");
  const certain = recordIn(numbers, { netns: { path: "/run/netns/b", identity: { ...numbers, cookie: 2n } } });
  const { call, looks } = callIn({ identity: { ...numbers, cookie: 2n }, links: ["eth0"] });
  expect(namesWith(certain).refuse(call, eth0)).rejects.toThrow("belongs to container old");
  expect(looks).not.toContain("stat");
});

test("find: where the earlier attachment of the same container is", async () => {
  const cookie = { ...numbers, cookie: 2n };
  const cases = [
    [recordIn(cookie), ["eth0"], "there"],
    [recordIn(cookie), ["lo"], "there"],
    [recordIn(numbers), ["lo"], "interface gone"],
    [recordIn({ ...numbers, cookie: 1n }), ["eth0"], "elsewhere"],
    [recordIn(numbers, { bootId: "another" }), ["eth0"], "elsewhere"],
    [recordIn(undefined, { bootId: "" }), ["eth0"], "there"],
    [recordIn(undefined, { bootId: "" }), ["lo"], "interface gone"],
    [recordIn(numbers, {}, false), ["lo"], "there"],
    [recordIn(numbers), undefined, "there"],
  ] as const;
  for (const [record, links, expected] of cases) {
    const { call } = callIn({ identity: cookie, ...(links === undefined ? {} : { links }) });
    expect(await namesWith().find(call, record)).toBe(expected);
  }
});
