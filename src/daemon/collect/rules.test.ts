import { expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { sameNetns, type NetnsIdentity } from "../../base/identity.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { aChain, aRecord, bootId } from "../../state/journal/record.fixture.ts";
import { undoLimit, doubtsAbout, endedBoots, judge } from "./rules.ts";
import { lookAtNamespaces, placeOf } from "./sight.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const nsfs = 4n;

function attached(number: number, change: Partial<AttachmentRecord> = {}): AttachmentRecord {
  const netns = { path: `/run/netns/pod${number}`, identity: { device: nsfs, inode: BigInt(number) } };
  return aRecord(number, { phase: "acknowledged", netns, ...change });
}

function journalOf(records: readonly AttachmentRecord[]): Pick<Journal, "inNetns"> {
  return { inNetns: (identity) => records.filter(({ netns }) => sameNetns(netns.identity, identity)) };
}

/** The fate of each record, for a hand that sees these paths. */
async function fates(
  records: readonly AttachmentRecord[],
  seen: Readonly<Record<string, NetnsIdentity>>,
): Promise<readonly string[]> {
  const eyes = { stat: (paths: readonly string[]) => Promise.resolve(paths.map((path) => seen[path])) };
  const sight = await lookAtNamespaces(eyes, records, journalOf(records));
  return records.map((record) => judge(record, sight, bootId).fate);
}

const first = { "/run/netns/pod1": { device: nsfs, inode: 1n } };

test("judge: dead, when the path has nothing or another namespace, and a living one is seen beside it", async () => {
  const replaced = { ...first, "/run/netns/pod3": { device: nsfs, inode: 99n } };
  expect(await fates([attached(1), attached(2), attached(3)], replaced)).toEqual(["alive", "dead", "dead"]);
});

test("lookAtNamespaces names each folder once, whatever the order of the paths", async () => {
  const paths = [
    "/run/netns/a",
    "/run/netns/b",
    "/run/netns/deep/c",
    "/run/netns/d",
    "/var/run/netns/e",
    "/proc/7/ns/net",
  ];
  const records = paths.map((path, at) =>
    attached(at, { netns: { path, identity: { device: nsfs, inode: BigInt(at) } } }),
  );
  const stat = (): Promise<readonly NetnsIdentity[]> =>
    Promise.resolve(paths.map((_, at) => ({ device: nsfs, inode: BigInt(at) })));
  const { places } = await lookAtNamespaces({ stat }, records, journalOf(records));
  expect([...places]).toEqual(["/run/netns", "/run/netns/deep", "/proc/*/ns"]);
});

test("judge: a namespace with the number of a dead one is told apart by its cookie, and by its time not for certain", async () => {
  const born = (number: number, birth: Partial<NetnsIdentity>): AttachmentRecord =>
    attached(number, {
      netns: { path: `/run/netns/pod${number}`, identity: { device: nsfs, inode: BigInt(number), ...birth } },
    });
  const seen = {
    ...first,
    "/run/netns/pod2": { device: nsfs, inode: 2n, cookie: 8n },
    "/run/netns/pod3": { device: nsfs, inode: 3n, ctimeNs: 8n },
  };
  const fatesOf = (birth: Partial<NetnsIdentity>): Promise<readonly string[]> =>
    fates([attached(1), born(2, birth), born(3, birth)], seen);
  expect(await fatesOf({})).toEqual(["alive", "alive", "alive"]);
  expect(await fatesOf({ cookie: 8n, ctimeNs: 8n })).toEqual(["alive", "alive", "alive"]);
  expect(await fatesOf({ cookie: 7n })).toEqual(["alive", "dead", "alive"]);
  expect(await fatesOf({ ctimeNs: 7n })).toEqual(["alive", "alive", "unproven"]);
});

test("judge: dead, when a later container has the interface in a namespace with the record's number", async () => {
  const netns = { path: "/run/netns/pod1", identity: { device: nsfs, inode: 1n } };
  const old = attached(1, { startedWallMs: 20 });
  const later = attached(2, { netns, startedWallMs: 10 });
  expect(await fates([old, later], first)).toEqual(["dead", "alive"]);
  const otherBoot = attached(2, { netns, startedWallMs: 20, bootId: "another" });
  expect(await fates([old, otherBoot], first)).toEqual(["alive", "alive"]);
});

test("judge: a stale record without a cookie and with a later time does not make the living one dead", async () => {
  const identity = { device: nsfs, inode: 1n, cookie: 77n };
  const stale = attached(1, { startedWallMs: 20 });
  const living = attached(2, { netns: { path: "/run/netns/pod1", identity }, startedWallMs: 10 });
  expect(await fates([stale, living], { "/run/netns/pod1": identity })).toEqual(["dead", "alive"]);
});

test("endedBoots: an earlier boot whose namespaces are not seen, by a hand that sees one of this boot or has none to see", () => {
  const earlier = [1, 2].map((number) => attached(number, { bootId: "before" }));
  const [own, multus] = [attached(3), attached(4, { bootId: "" })];
  const ended = (records: readonly AttachmentRecord[], alive: readonly AttachmentRecord[]): readonly string[] => [
    ...endedBoots(records, { alive: new Set(alive) }, bootId),
  ];
  expect(ended([...earlier, multus], [])).toEqual(["before"]);
  expect(ended([...earlier, multus, own], [own])).toEqual(["before"]);
  expect(ended([...earlier, own], [])).toEqual([]);
  expect(ended([...earlier, own], [own, earlier[0]!])).toEqual([]);
  expect(ended([...earlier, attached(5, { bootId: "long ago" }), own], [own, earlier[0]!])).toEqual(["long ago"]);
});

test("judge: unproven, when no namespace is seen in the folder, or only a file", async () => {
  expect(await fates([attached(1), attached(2)], {})).toEqual(["unproven", "unproven"]);
  const file = { ...first, "/run/netns/pod2": { device: 22n, inode: 7n } };
  expect(await fates([attached(1), attached(2)], file)).toEqual(["alive", "unproven"]);
});

test("judge: unproven, when one path cannot be read; the others are judged", async () => {
  const stat = (paths: readonly string[]): Promise<readonly (NetnsIdentity | undefined)[]> =>
    paths.includes("/run/netns/pod2")
      ? Promise.reject(new LeveeError("protocol-violated", "Cannot look at /run/netns/pod2: permission denied"))
      : Promise.resolve(paths.map((path) => (path === "/run/netns/pod1" ? first[path] : undefined)));
  const records = [attached(1), attached(2), attached(3)];
  const sight = await lookAtNamespaces({ stat }, records, journalOf(records));
  expect(records.map((record) => judge(record, sight, bootId).fate)).toEqual(["alive", "unproven", "dead"]);
  const lost = { stat: () => Promise.reject(new LeveeError("hand-lost", "gone")) };
  expect(lookAtNamespaces(lost, records, journalOf(records))).rejects.toThrow("gone");
});

test("judge needs proof from the same folder: one runtime's folder proves nothing about another's", async () => {
  const elsewhere = attached(2, { netns: { path: "/proc/77/ns/net", identity: { device: nsfs, inode: 2n } } });
  expect(await fates([attached(1), elsewhere], first)).toEqual(["alive", "unproven"]);
  const process = attached(3, { netns: { path: "/proc/78/ns/net", identity: { device: nsfs, inode: 3n } } });
  const seen = { ...first, "/proc/78/ns/net": { device: nsfs, inode: 3n } };
  expect(await fates([attached(1), elsewhere, process], seen)).toEqual(["alive", "dead", "alive"]);
});

test("judge: an attachment of Multus is alive by its path, but proves nothing", async () => {
  const imported = attached(1, {
    origin: "multus",
    bootId: "",
    netns: { path: "/run/netns/pod1", identity: undefined },
  });
  expect(await fates([imported, attached(2)], first)).toEqual(["alive", "unproven"]);
  const pathless = attached(3, { origin: "multus", bootId: "", netns: { path: "", identity: undefined } });
  expect(await fates([attached(1), pathless], first)).toEqual(["alive", "unproven"]);
});

test("judge: dead, without further proof, when attached before the last boot", async () => {
  const old = attached(2, { bootId: "another" });
  expect(await fates([old], {})).toEqual(["dead"]);
  expect(await fates([old], { "/run/netns/pod2": { device: 22n, inode: 7n } })).toEqual(["dead"]);
});

test("judge believes the identity of a namespace over a boot ID, as some containers see another boot ID", async () => {
  const old = [1, 2].map((number) => attached(number, { bootId: "another" }));
  const seen = { ...first, "/run/netns/pod2": { device: nsfs, inode: 3n } };
  expect(await fates(old, seen)).toEqual(["alive", "dead"]);
});

test("judge keeps an attachment with a network that has disableGC", async () => {
  const kept = attached(2, { chains: [aChain(), aChain({ disableGC: true })] });
  expect(await fates([attached(1), kept], first)).toEqual(["alive", "kept"]);
});

test.each([
  [0, 5],
  [50, 5],
  [59, 5],
  [250, 25],
])("undoLimit of a node with %p attachments is %p", (attachments, limit) => {
  expect(undoLimit(attachments)).toBe(limit);
});

test.each([
  ["/var/run/netns/cni-1", "/run/netns"],
  ["/run/netns/cni-1", "/run/netns"],
  ["/proc/4711/ns/net", "/proc/*/ns"],
  ["/var/running/a", "/var/running"],
])("placeOf %s is %s", (path, place) => {
  expect(placeOf(path)).toBe(place);
});

function pod(number: number, uid: string, isStatic = false): PodFacts {
  const names = { namespace: "default" as Namespace, name: `pod${number}` as PodName, uid: uid as PodUid };
  return { ...names, annotations: {}, priority: undefined, isStatic };
}

test("doubtsAbout finds a pod that is gone, another pod of the same name and a newer sandbox; a static pod's UID may differ", () => {
  const newer = { ...attached(5), containerId: aRecord(9).containerId, startedWallMs: 1_600_000_000_000 };
  const records = [attached(1), attached(2), attached(3), attached(4), attached(5), newer];
  const pods = [pod(1, "uid1"), pod(2, "other"), pod(4, "mirror", true), pod(5, "uid5")];
  const doubt = doubtsAbout({ records, pods });
  expect(records.map(doubt)).toEqual([
    undefined,
    "another pod has its name: its UID is other, this one's was uid2",
    "its pod is gone",
    undefined,
    "a newer sandbox of the same pod is attached: container9",
    undefined,
  ]);
});

test("doubtsAbout ignores pods while their list is incomplete, and containers without a pod", () => {
  const nameless = attached(2, { pod: { namespace: "" as Namespace, name: "" as PodName, uid: "" as PodUid } });
  expect([attached(1), nameless].map(doubtsAbout({ records: [], pods: undefined }))).toEqual([undefined, undefined]);
  expect(doubtsAbout({ records: [], pods: [] })(nameless)).toBeUndefined();
});
