import { rmSync } from "node:fs";
import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { aFolder, aRecord, bootId, openIn } from "../../state/journal/record.fixture.ts";
import { AttachRecord } from "./attach-record.ts";
import type { Call } from "../serve/call.ts";
import { ChainNotes } from "../record/chain-notes.ts";
import { Leaks } from "../undo/leaks.ts";
import { Suspects } from "../undo/suspects.ts";
import { Undo } from "../undo/undo.ts";
import { silentEventTeller } from "../tell/event-teller.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";

const first = new LeveeError("delegate-failed", "default/lan (net1): no room", { cniCode: 142, details: "why" });

/** Undoes an ADD whose first plugin has failed; `run` is the shim's answer to the undo. */
async function undone(run: () => Promise<unknown>): Promise<{ error: LeveeError; leaks: number; records: number }> {
  const folder = await aFolder();
  const journal = await openIn(folder);
  const record = aRecord(1);
  await journal.begin(record);
  const { hand: identity, netns } = record;
  const call: Partial<Record<keyof Call, unknown>> = {
    hand: { isLost: false, isResident: false, identity, cniPath: "/bin", run },
    header: { netns: netns.path, netnsIdentity: netns.identity },
  };
  const clock = systemClock;
  const timeline = new KeptTimeline();
  const notes = new ChainNotes(timeline, { ran: () => undefined });
  const leaks = new Leaks({ clock, bootId, journal, logger: silentLogger, eventTeller: silentEventTeller });
  const undo = new Undo({
    clock,
    config: { addUndoMs: 1_000, delDelegatesMs: 1_000, delAttemptsMax: 1, binDir: "/bin" },
    bootId,
    suspects: new Suspects(bootId, { all: () => [] }),
    notes,
    journal,
    leaks,
    leftovers: { leftBy: (_record, failures) => Promise.resolve(failures) },
    afterwork: { drop: () => Promise.resolve() },
    offline: { dropDelete: () => Promise.resolve() },
  });
  const attachRecord = new AttachRecord({
    config: { deviceInfoDir: "/nowhere" },
    logger: silentLogger,
    journal,
    timeline,
    runChains: { run: () => Promise.resolve([]) },
    undo,
    recovery: { lost: () => undefined },
    afterwork: { committed: () => undefined, tell: () => undefined },
  });
  try {
    const error = await attachRecord.undo(call as Call, record, first);
    return { error, leaks: journal.leaks().length, records: journal.all().length };
  } finally {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

test("AttachRecord.undo returns only the first failure when all was undone", async () => {
  const done = { exitCode: 0, failure: undefined, message: "", stdout: "", stderr: "", wallUs: 1, maxRssKib: 1 };
  expect(await undone(() => Promise.resolve(done))).toEqual({ error: first, leaks: 0, records: 0 });
});

test("AttachRecord.undo appends the leak when the undo failed, and keeps code, number and details", async () => {
  const { error, leaks, records } = await undone(() => Promise.reject(new Error("switch is away")));
  expect({ leaks, records }).toEqual({ leaks: 1, records: 0 });
  expect(error).toMatchObject({
    code: "delegate-failed",
    cniCode: 142,
    details: "why",
    message: "default/lan (net1): no room; part of it could not be undone, see levee leaks",
  });
});
