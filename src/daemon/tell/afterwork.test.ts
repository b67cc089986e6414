import { expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { Afterwork, type AfterworkNeeds } from "./afterwork.ts";
import { silentStatusTeller } from "./status-teller.ts";

test("Afterwork.committed leaves Multus' files until the reply is out; an undo leaves none, and the end forgets none", async () => {
  const clock = new VirtualClock();
  const records = Array.from({ length: 3 }, (_, number) => aRecord(number, { chains: [] }));
  const [told, undone, last] = records;
  if (told === undefined || undone === undefined || last === undefined) throw new Error("There are three records");
  const written: string[] = [];
  const afterwork = new Afterwork({
    clock,
    config: { deviceInfoDir: "" },
    journal: { findByToken: (token: string) => records.find((record) => record.token === token) },
    mirror: {
      write: (record: AttachmentRecord) => Promise.resolve(void written.push(record.token)),
      remove: () => Promise.resolve(undefined),
      settled: () => Promise.resolve(),
    },
    statusTeller: silentStatusTeller,
    isPending: () => false,
  } as unknown as AfterworkNeeds); // only what these calls use
  afterwork.committed(told.token);
  afterwork.committed(undone.token);
  await afterwork.drop(undone);
  expect(written).toEqual([]);
  await clock.advance(10);
  expect(written).toEqual([told.token]);
  afterwork.committed(last.token);
  await afterwork.finish();
  expect(written).toEqual([told.token, last.token]);
  await clock.advance(10);
  expect(written).toHaveLength(2);
});

test("Afterwork.repairMirror writes the files of thousands of pods one pod at a time, and none of a pod that goes", async () => {
  const due: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after: (_ms, job) => {
      due.push(job);
      return () => undefined;
    },
  };
  const records = Array.from({ length: 3_000 }, (_, number) => aRecord(number, { chains: [] }));
  const byToken = new Map(records.map((record) => [record.token, record]));
  const written: string[] = [];
  const afterwork = new Afterwork({
    clock,
    config: { deviceInfoDir: "" },
    journal: { all: () => records, findByToken: (token: string) => byToken.get(token) },
    mirror: {
      repair: async (all: readonly AttachmentRecord[], write: (record: AttachmentRecord) => void) => all.forEach(write),
      write: (record: AttachmentRecord) => Promise.resolve(void written.push(record.token)),
      remove: () => Promise.resolve(undefined),
      settled: () => Promise.resolve(),
    },
    statusTeller: { drop: () => undefined },
  } as unknown as AfterworkNeeds); // only what these calls use
  await afterwork.repairMirror();
  expect(written).toEqual([]);
  const turn = (): void => due.shift()?.();
  turn();
  expect(written).toHaveLength(1);
  const [, second] = records;
  if (second !== undefined) await afterwork.drop(second);
  turn();
  turn();
  expect(written).toEqual([0, 2, 3].map((number) => records[number]?.token ?? ""));
  await afterwork.finish();
  expect(written).toHaveLength(1_003);
});
