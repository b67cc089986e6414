import { rmSync } from "node:fs";
import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { SpareTime } from "../../base/spare-time.ts";
import { aFolder, aRecord, bootId, openIn } from "../../state/journal/record.fixture.ts";
import { giveUp } from "./run-chains.ts";
import type { Call } from "../serve/call.ts";
import type { Ports } from "../ports.ts";
import { silentPublisher } from "../tell/status-publisher.ts";
import { silentAnnouncer } from "../tell/announcer.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";

const first = new LeveeError("delegate-failed", "default/lan (net1): no room", { cniCode: 142, details: "why" });

/** Gives up an ADD whose first plugin has failed; `run` is what its shim does when it is asked to undo that. */
async function givenUp(run: () => Promise<unknown>): Promise<{ error: LeveeError; leaks: number; records: number }> {
  const folder = await aFolder();
  const journal = await openIn(folder);
  const record = aRecord(1);
  await journal.begin(record);
  const { hand: identity, netns } = record;
  const call: Partial<Record<keyof Call, unknown>> = {
    hand: { isLost: false, isResident: false, identity, cniPath: "/bin", run },
    header: { netns: netns.path, netnsIdentity: netns.identity },
  };
  const ports: Partial<Record<keyof Ports, unknown>> = {
    clock: systemClock,
    logger: silentLogger,
    config: { addUndoMs: 1_000, binDir: "/bin" },
    bootId,
    journal,
    mirror: { remove: () => Promise.resolve() },
    spareTime: new SpareTime(systemClock),
    statusTime: new SpareTime(systemClock),
    offline: { dropDelete: () => Promise.resolve() },
    publisher: silentPublisher,
    measures: { ran: () => undefined },
    announcer: silentAnnouncer,
    timeline: new KeptTimeline(),
  };
  try {
    const error = await giveUp(call as Call, record, first, { ports: ports as Ports });
    return { error, leaks: journal.leaks().length, records: journal.all().length };
  } finally {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test("giveUp tells the first failure alone when all was undone", async () => {
  const done = { exitCode: 0, failure: undefined, message: "", stdout: "", stderr: "", wallUs: 1, maxRssKib: 1 };
  expect(await givenUp(() => Promise.resolve(done))).toEqual({ error: first, leaks: 0, records: 0 });
});

test("giveUp adds that something is left when the undo failed, and keeps code, number and details", async () => {
  const { error, leaks, records } = await givenUp(() => Promise.reject(new Error("switch is away")));
  expect({ leaks, records }).toEqual({ leaks: 1, records: 0 });
  expect(error).toMatchObject({
    code: "delegate-failed",
    cniCode: 142,
    details: "why",
    message: "default/lan (net1): no room; part of it could not be undone, see levee leaks",
  });
});
