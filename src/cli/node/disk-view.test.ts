import { describe, expect, test } from "bun:test";
import type { IfName } from "../../base/brand.ts";
import type { LeakEntry } from "../../state/journal/leak-ledger.ts";
import { aChain, aRecord, json } from "../../state/journal/record.fixture.ts";
import { attachmentsOnDisk, leaksOnDisk, timelineOnDisk, type DiskJournal } from "./disk-view.ts";

const result = json(
  '{"cniVersion":"1.0.0","interfaces":[{"name":"net1","mac":"02:00:00:00:00:07","sandbox":"/x"}],"ips":[{"address":"10.0.0.5/24","interface":0}]}',
);

function journal(change: Partial<DiskJournal> = {}): DiskJournal {
  return { records: [], leaks: [], quarantined: [], hasDelete: () => false, ...change };
}

describe("attachmentsOnDisk", () => {
  test("shows a committed attachment with addresses and plugins", () => {
    const records = [aRecord(1, { phase: "acknowledged", results: [result] })];
    expect(attachmentsOnDisk(journal({ records })).attachments).toEqual([
      {
        namespace: "default",
        pod: "pod1",
        uid: "uid1",
        containerId: "container1",
        netns: "/run/netns/pod1",
        phase: "attached",
        sinceWallMs: 1_700_000_000_000,
        networks: [
          {
            network: "default/lan",
            ifname: "net1",
            isDefault: false,
            plugins: ["bridge"],
            ips: ["10.0.0.5/24"],
            mac: "02:00:00:00:00:07",
          },
        ],
      },
    ]);
  });

  test.each([
    ["intent", 0, "lost"],
    ["committed", 0, "lost"],
    ["undoing", 0, "undoing"],
    ["acknowledged", 0, "attached"],
    ["acknowledged", 2, "detaching"],
  ] as const)(
    "phase %s with %d failed deletes is %s: no work is under way while the daemon is down",
    (phase, delAttempts, shown) => {
      expect(attachmentsOnDisk(journal({ records: [aRecord(1, { phase, delAttempts })] })).attachments[0]?.phase).toBe(
        shown,
      );
    },
  );

  test.each(["intent", "undoing", "acknowledged"] as const)(
    "phase %s with a delete that a shim left is detaching, and only that one",
    (phase) => {
      const hasDelete = (name: string): boolean => name === `container1:${aRecord(1).ifname}.del`;
      const records = [aRecord(1, { phase }), aRecord(2, { phase: "acknowledged" })];
      const { attachments } = attachmentsOnDisk(journal({ records, hasDelete }));
      expect(attachments.map((view) => view.phase)).toEqual(["detaching", "attached"]);
    },
  );

  test("a result that cannot be read costs its addresses, not the list", () => {
    const records = [aRecord(1, { phase: "acknowledged", results: [json('{"cniVersion":"9.9.9"}')] }), aRecord(2)];
    const { attachments } = attachmentsOnDisk(journal({ records }));
    expect(attachments.map(({ pod }) => pod)).toEqual(["pod1", "pod2"]);
    expect(attachments[0]?.networks[0]?.ips).toEqual([]);
  });
});

describe("timelineOnDisk", () => {
  const failure = { code: "delegate-failed", cniCode: 104, message: "bridge failed", details: "" };

  test("tells plan, failure and phase of the pod that was asked for", () => {
    const records = [aRecord(1, { phase: "undoing", failure }), aRecord(2, { phase: "acknowledged", delAttempts: 2 })];
    const first = timelineOnDisk(journal({ records }), { namespace: "default", name: "pod1" });
    expect(first.entries.map(({ verb, what, detail }) => [verb, what, detail])).toEqual([
      ["ADD", "planned", "default/lan as net1"],
      ["ADD", "failed", "bridge failed (delegate-failed)"],
    ]);
    const second = timelineOnDisk(journal({ records }), { namespace: "default", name: "pod2" });
    expect(second.entries.map(({ verb, what }) => `${verb} ${what}`)).toEqual([
      "ADD planned",
      "ADD acknowledged",
      "DEL failed",
    ]);
  });

  test("tells of a delete that waits on disk", () => {
    const records = [aRecord(1, { phase: "acknowledged" })];
    const { entries } = timelineOnDisk(journal({ records, hasDelete: () => true }), {
      namespace: "default",
      name: "pod1",
    });
    expect(entries.at(-1)).toMatchObject({ verb: "DEL", what: "waiting" });
  });

  test("finds a pod without a name by its container", () => {
    expect(
      timelineOnDisk(journal({ records: [aRecord(1)] }), { namespace: "", name: "container1" }).entries,
    ).toHaveLength(1);
    expect(timelineOnDisk(journal({ records: [aRecord(1)] }), { namespace: "other", name: "pod1" }).entries).toEqual(
      [],
    );
  });
});

describe("leaksOnDisk", () => {
  test("shows leaks, with and without a known pod, and what was put aside", () => {
    const { containerId, pod, netns, cniPath, bootId } = aRecord(1);
    const leak: LeakEntry = {
      id: "ab",
      containerId,
      ifname: "eth0" as IfName,
      pod,
      chains: [aChain()],
      results: [],
      netns,
      cniPath,
      bootId,
      reason: "timed out",
      sinceWallMs: 5,
      attempts: 3,
      nextTryWallMs: 9,
      hasTimedOut: false,
      repeats: 0,
    };
    const quarantined = [
      { name: "journal-0-ff.bad", source: "journal", reason: "checksum", offset: 0, bytes: 9, foundWallMs: 7 },
    ] as const;
    const answer = leaksOnDisk(
      journal({ leaks: [leak, { ...leak, id: "cd", pod: undefined, chains: [] }], quarantined }),
    );
    expect(answer.leaks).toEqual([
      {
        id: "ab",
        namespace: "default",
        pod: "pod1",
        containerId,
        network: "default/lan",
        ifname: "net1",
        reason: "timed out",
        sinceWallMs: 5,
        attempts: 3,
      },
      {
        id: "cd",
        namespace: "",
        pod: "",
        containerId,
        network: "",
        ifname: "eth0",
        reason: "timed out",
        sinceWallMs: 5,
        attempts: 3,
      },
    ]);
    expect(answer.quarantined).toEqual([{ file: "journal-0-ff.bad", reason: "checksum", sinceWallMs: 7 }]);
  });
});
