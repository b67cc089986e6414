import { describe, expect, test } from "bun:test";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { IfName, Namespace, PodName } from "../../base/brand.ts";
import { aChain, aFolder, aRecord, attachIn, containerId, json, openIn, tokenOf } from "./record.fixture.ts";

describe("Journal", () => {
  test("keeps an attachment over a restart with every byte and every bit", async () => {
    const folder = await aFolder();
    const hostile = json(
      '{"a":"\\u0000\\n\\"L1 00000000 {}","__proto__":{"x":1},"big":9007199254740993,"k":1,"k":2,"\u2028":"\ud800"}',
    );
    const chain = aChain({
      links: [{ ...aChain().links[0]!, stdin: hostile }],
      multus: { ...aChain().multus, capabilityArgs: JSON.parse('{"__proto__":"[]"}') },
    });
    const record = aRecord(1, { chains: [chain] });
    const journal = await openIn(folder);
    await attachIn(journal, record);
    const before = journal.findByToken(record.token)!;
    await journal.close();

    const again = await openIn(folder);
    const after = again.findByToken(record.token)!;
    expect(after).toEqual(before);
    expect(after.chains[0]?.links[0]?.stdin).toBe(hostile);
    expect(Object.keys(after.chains[0]!.multus.capabilityArgs)).toEqual(["__proto__"]);
    expect(after.netns.identity?.inode).toBe(18446744073709551615n);
    expect(after.phase).toBe("acknowledged");
    expect(again.quarantined()).toEqual([]);
    await again.close();
  });

  test("creates the folder 0700 and its files 0600, genesis first", async () => {
    const folder = join(await aFolder(), "deep", "state");
    const journal = await openIn(folder);
    await journal.close();
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of ["journal.log", "containers.idx", "reserve"])
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    expect((await stat(join(folder, "reserve"))).blocks * 512).toBeGreaterThanOrEqual(65_536);
    expect(await readFile(join(folder, "journal.log"), "utf8")).toMatch(
      /^L1 [0-9a-f]{8} \{"kind":"genesis","genesis":\{"bootId"/,
    );
  });

  test("forgets the steps of an attachment that a pod uses, unless a chain's result is missing", async () => {
    const journal = await openIn(await aFolder());
    await attachIn(journal, aRecord(1));
    expect(journal.findByToken(tokenOf(1))).toMatchObject({ steps: new Map(), results: [expect.any(String)] });
    // The commit was lost: the step has the only result that there is for the DEL.
    await journal.begin(aRecord(2));
    await journal.step(tokenOf(2), { step: 1, result: json("{}") });
    await journal.acknowledge(tokenOf(2));
    expect([...journal.findByToken(tokenOf(2))!.steps.values()]).toEqual([{ step: 1, result: json("{}") }]);
    await journal.close();
  });

  test("walks through the phases of an attachment", async () => {
    const journal = await openIn(await aFolder());
    const record = aRecord(1);
    const key = { containerId: record.containerId, ifname: record.ifname };
    await journal.begin(record);
    expect(journal.find(key)?.phase).toBe("intent");
    await journal.step(record.token, { step: 3, result: json("{}") });
    await journal.step(record.token, { step: 4, result: undefined });
    expect([...journal.find(key)!.steps.keys()]).toEqual([3, 4]);
    await journal.undoing(record.token, { code: "delegate-failed", cniCode: 104, message: "first", details: "" });
    await journal.undoing(record.token, { code: "internal", cniCode: 199, message: "second", details: "" });
    expect(journal.find(key)?.failure?.message).toBe("first");
    await journal.delFailed(record.token, "busy");
    await journal.delFailed(record.token, "busy");
    expect(journal.find(key)?.delAttempts).toBe(2);
    await journal.removed(record.token);
    expect(journal.find(key)).toBeUndefined();
    expect(journal.knows(record.containerId)).toBe("settled");
    await journal.removed(record.token);
    expect(journal.all()).toEqual([]);
    await journal.close();
  });

  test("a failed ADD settles a container without a record, until it is added, and no other", async () => {
    const journal = await openIn(await aFolder());
    const record = aRecord(1);
    expect(journal.knows(record.containerId)).toBe("never-added");
    journal.addFailed(record.containerId);
    expect(journal.knows(record.containerId)).toBe("settled");
    await journal.begin(record);
    journal.addFailed(record.containerId);
    expect(journal.knows(record.containerId)).toBe("live");
    await journal.suspect([containerId("suspect")]);
    journal.addFailed(containerId("suspect"));
    expect(journal.knows(containerId("suspect"))).toBe("lost");
    await journal.close();
  });

  test("finds by pod, and tells two interfaces of one container apart", async () => {
    const journal = await openIn(await aFolder());
    const first = aRecord(1);
    await journal.begin(first);
    await journal.begin({ ...first, token: tokenOf(2), ifname: "eth1" as IfName });
    expect(journal.forPod("default" as Namespace, "pod1" as PodName)).toHaveLength(2);
    expect(journal.forPod("pod1" as Namespace, "default" as PodName)).toEqual([]);
    await journal.removed(tokenOf(1));
    expect(journal.knows(first.containerId)).toBe("live");
    await journal.removed(tokenOf(2));
    expect(journal.knows(first.containerId)).toBe("settled");
    await journal.close();
  });
});

describe("Journal takes writes", () => {
  test("begin refuses a second attachment of the same interface, also while the first is on its way", async () => {
    const journal = await openIn(await aFolder());
    const both = await Promise.allSettled([
      journal.begin(aRecord(1)),
      journal.begin(aRecord(1, { token: tokenOf(2) })),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(journal.begin(aRecord(1, { token: tokenOf(3) }))).rejects.toMatchObject({ code: "interface-taken" });
    expect(journal.begin(aRecord(2, { token: tokenOf(1) }))).rejects.toMatchObject({ code: "internal" });
    await journal.close();
  });

  test("writes about an unknown token are a defect, a closed journal refuses", async () => {
    const journal = await openIn(await aFolder());
    expect(journal.commit("abc", [])).rejects.toMatchObject({ code: "internal" });
    await journal.close();
    expect(journal.begin(aRecord(1))).rejects.toMatchObject({ code: "state-unwritable" });
    expect(journal.all()).toEqual([]);
  });

  test("close waits for what was submitted before it", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    const begun = Array.from({ length: 50 }, (_, number) => journal.begin(aRecord(number)));
    await journal.close();
    await Promise.all(begun);
    const again = await openIn(folder);
    expect(again.all()).toHaveLength(50);
    await again.close();
  });

  test("calls onWritten once for each record, in order", async () => {
    const counts: number[] = [];
    const journal = await openIn(await aFolder(), { onWritten: (count) => counts.push(count) });
    await attachIn(journal, aRecord(1));
    await journal.removed(tokenOf(1));
    expect(counts).toEqual([1, 2, 3, 4, 5]);
    expect(journal.stats().written).toBe(5);
    await journal.close();
  });

  test("markImported is remembered over a restart and a rewrite", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    expect(journal.stats().genesis?.importDone).toBe(false);
    await journal.markImported();
    await journal.markImported();
    await journal.close();
    const again = await openIn(folder);
    expect(again.stats().genesis?.importDone).toBe(true);
    await again.close();
  });
});

describe("Journal reads everything again", () => {
  test("keeps leaks over a restart, counts trials, forgets the resolved ones", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    const leak = {
      id: "a1",
      containerId: containerId("gone"),
      ifname: "eth0" as IfName,
      pod: undefined,
      chains: [aChain()],
      results: [undefined],
      netns: { path: "", identity: { device: 1n, inode: 2n } },
      cniPath: "/bin",
      bootId: "b",
      reason: "busy",
      sinceWallMs: 1,
      attempts: 0,
      nextTryWallMs: 2,
      hasTimedOut: false,
      repeats: 0,
      linksAdded: 1,
    };
    await journal.leak(leak);
    await journal.leak({ ...leak, id: "a2", chains: [], results: [] });
    await journal.leakRetried("a1", "busy", false);
    await journal.leakRetried("a1", "busy", false);
    expect(journal.leaks()[0]).toMatchObject({ attempts: 2, repeats: 2 });
    await journal.leakRetried("a1", "gone", false);
    expect(journal.leaks()[0]).toMatchObject({ attempts: 3, repeats: 0 });
    await journal.leakRetried("a1", "still busy", true);
    await journal.leakRetried("a1", "still busy", true);
    await journal.leakResolved("a2");
    await journal.leakResolved("no such leak");
    await journal.leakRetried("no such leak", "", false);
    await journal.close();
    const again = await openIn(folder);
    expect(again.leaks()).toHaveLength(1);
    expect(again.findLeak(leak)).toMatchObject({
      id: "a1",
      attempts: 5,
      reason: "still busy",
      hasTimedOut: true,
      repeats: 1,
      linksAdded: 1,
      netns: leak.netns,
      chains: leak.chains,
    });
    expect(again.leaks()[0]!.nextTryWallMs).toBeGreaterThan(Date.now() + 40_000);
    await again.close();
  });

  test("replays five thousand records", async () => {
    const folder = await aFolder();
    const journal = await openIn(folder);
    await Promise.all(Array.from({ length: 5_000 }, (_, number) => journal.begin(aRecord(number))));
    await Promise.all(Array.from({ length: 5_000 }, (_, number) => journal.commit(tokenOf(number), [json("{}")])));
    await journal.close();
    const again = await openIn(folder);
    expect(again.all()).toHaveLength(5_000);
    expect(again.all().every(({ phase }) => phase === "committed")).toBe(true);
    await again.close();
  });
});
