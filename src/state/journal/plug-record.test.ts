import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import type { IfName, NetworkName } from "../../base/brand.ts";
import { plugEnded, type PlugRecord } from "./plug-record.ts";
import { aChain, aFolder, aRecord, attachIn, json, openIn } from "./record.fixture.ts";

const joining = aChain({ network: "default/new" as NetworkName, ifname: "net2" as IfName });
const plug: PlugRecord = {
  hand: { pid: 9, pidStart: 8, pidNamespace: 7 },
  leaving: ["net1" as IfName],
  joining: [joining],
  steps: new Map(),
};

describe("plugEnded", () => {
  const record = { chains: [aChain()], results: [json('{"a":1}')], plug };
  const renewed = [{ ifname: "net1" as IfName, result: json('{"a":2}') }];

  test("gives the pod the new networks", () => {
    const end = { gone: plug.leaving, joined: [json('{"b":1}')], renewed: [] };
    expect(plugEnded(record, end)).toEqual({ chains: [joining], results: [json('{"b":1}')], plug: undefined });
  });

  test("gives the pod its old networks again, with the results of their second ADD", () => {
    const end = { gone: [], joined: [], renewed };
    expect(plugEnded(record, end)).toEqual({ chains: [aChain()], results: [json('{"a":2}')], plug: undefined });
  });
});

describe("Journal", () => {
  test("a change survives a restart at each of its lines, and a rewrite", async () => {
    const folder = await aFolder();
    const record = aRecord(1);
    const first = await openIn(folder);
    await attachIn(first, record);
    await first.plug(record.token, plug);
    await first.plugStep(record.token, { step: 1, result: json('{"b":1}') });
    const { ifname } = record.chains[0]!;
    await first.plugStep(record.token, { step: 1, result: json('{"c":1}') }, ifname);
    const open = first.findByToken(record.token);
    expect(open?.results[0]).toBe(json('{"c":1}'));
    expect(open?.plug?.steps.get(1)?.result).toBe(json('{"b":1}'));
    await first.close();
    const second = await openIn(folder);
    expect(second.findByToken(record.token)).toEqual(open);
    await second.plugEnded(record.token, { gone: plug.leaving, joined: [json('{"b":1}')], renewed: [] });
    const ended = second.findByToken(record.token);
    expect(ended?.chains).toEqual([joining]);
    expect(ended?.plug).toBeUndefined();
    await second.close();
    const third = await openIn(folder);
    expect(third.findByToken(record.token)).toEqual(ended);
    await third.close();
    await rm(folder, { recursive: true });
  });
});
