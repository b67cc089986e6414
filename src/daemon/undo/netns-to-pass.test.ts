import { expect, test } from "bun:test";
import type { IfName, PluginType } from "../../base/brand.ts";
import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aChain, aRecord, bootId } from "../../state/journal/record.fixture.ts";
import type { FoundFile } from "../../wire/outcome.ts";
import { goneNetnsPath, lookAtNetns, netnsAt, netnsToPass, type NetnsNow } from "./netns-to-pass.ts";

const path = "/run/netns/a";
const numbers: NetnsIdentity = { device: 4n, inode: 9n };

function recordIn(identity: NetnsIdentity | undefined, change: Partial<AttachmentRecord> = {}): AttachmentRecord {
  return aRecord(1, { netns: { path, identity }, startedWallMs: 20, bootId, ...change });
}

function passed(
  record: AttachmentRecord,
  identity: NetnsIdentity | undefined,
  others: AttachmentRecord[] = [],
): string {
  const inNetns = (netns: NetnsIdentity): AttachmentRecord[] =>
    others.filter((other) => sameNetns(other.netns.identity, netns));
  return netnsToPass(record, { path, identity }, { bootId, journal: { inNetns } });
}

test("netnsToPass: the namespace of the record, and no other one", () => {
  expect(passed(recordIn(numbers), numbers)).toBe(path);
  expect(passed(recordIn(numbers), undefined)).toBe("");
  expect(passed(recordIn(numbers), { ...numbers, inode: 8n })).toBe("");
  expect(passed(recordIn({ ...numbers, cookie: 1n }), { ...numbers, cookie: 2n })).toBe("");
  expect(passed(recordIn({ ...numbers, cookie: 1n }), { ...numbers, cookie: 1n })).toBe(path);
  expect(passed(recordIn(numbers, { bootId: "another" }), numbers)).toBe("");
});

test("netnsToPass: a record from before cookies counts as the same, and one from Multus trusts the caller", () => {
  expect(passed(recordIn(numbers), { ...numbers, cookie: 2n })).toBe(path);
  expect(passed(recordIn({ ...numbers, cookie: 2n }), numbers)).toBe(path);
  expect(passed(recordIn(undefined, { bootId: "" }), numbers)).toBe(path);
  expect(passed(recordIn(undefined, { bootId: "" }), undefined)).toBe("");
});

test("netnsToPass: none, when a later container has the interface in that namespace, whatever the wall clock said", () => {
  const now = { ...numbers, cookie: 2n };
  const later = aRecord(2, { netns: { path, identity: now }, startedWallMs: 10, bootId });
  for (const old of [recordIn(numbers), recordIn(now), recordIn(undefined, { bootId: "" })]) {
    expect(passed(old, now, [old, later])).toBe("");
    expect(passed(later, now, [old, later])).toBe(path);
    expect(passed(old, now, [old, { ...later, bootId: "another" }])).toBe(path);
    expect(passed(old, now, [old, { ...later, chains: [aChain({ ifname: "other0" as IfName })] }])).toBe(path);
  }
});

test("netnsToPass: a record whose cookie is seen keeps its namespace, although a later one without a cookie has its numbers", () => {
  const now = { ...numbers, cookie: 2n };
  const certain = recordIn(now);
  const vague = aRecord(2, { netns: { path, identity: numbers }, startedWallMs: 30, bootId });
  expect(passed(certain, now, [certain, vague])).toBe(path);
  expect(passed(certain, numbers, [certain, vague])).toBe("");
});

test("goneNetnsPath: only of a path at which nothing is, and only for plugins that find their work by it", () => {
  const bridge = aChain().links;
  const ovs = { links: bridge.map((link) => ({ ...link, type: "ovs" as PluginType })) };
  const gone = { path, identity: undefined, isPathFree: true };
  expect<string>(goneNetnsPath(ovs, gone)).toBe(path);
  expect(goneNetnsPath(ovs, { ...gone, isPathFree: false })).toBe("");
  expect(goneNetnsPath(ovs, { path, identity: undefined })).toBe("");
  expect(goneNetnsPath(ovs, { ...gone, path: "/proc/77/ns/net" })).toBe("");
  expect(goneNetnsPath({ links: [...ovs.links, ...bridge] }, gone)).toBe("");
});

test("lookAtNetns: a path is free when nothing is there", async () => {
  const at = (found: FoundFile | undefined): Promise<NetnsNow> =>
    lookAtNetns({ stat: () => Promise.resolve([found]) }, path);
  expect(await at(undefined)).toEqual({ path, identity: undefined, isPathFree: true });
  expect(await at({ ...numbers, isNetns: false })).toEqual({ path, identity: undefined, isPathFree: false });
  expect(await at({ ...numbers, isNetns: true })).toMatchObject({ path, identity: numbers, isPathFree: false });
});

test("netnsAt: something that is no namespace is none; an old hand cannot tell", async () => {
  const at = (found: FoundFile | undefined): Promise<NetnsIdentity | undefined> =>
    netnsAt({ stat: () => Promise.resolve([found]) }, path);
  expect(await at({ ...numbers, isNetns: false })).toBeUndefined();
  expect(await at({ ...numbers, isNetns: true })).toMatchObject(numbers);
  expect(await at(numbers)).toEqual(numbers);
  expect(await at(undefined)).toBeUndefined();
  expect(await netnsAt({ stat: () => Promise.reject(new Error("asked")) }, "")).toBeUndefined();
});
