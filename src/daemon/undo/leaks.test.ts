import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { aRecord, bootId } from "../../state/journal/record.fixture.ts";
import { silentEventTeller, type Notice } from "../tell/event-teller.ts";
import { Leaks } from "./leaks.ts";

/** The ledger's entries and the events told while `write` runs. */
async function told(
  write: (leaks: Leaks) => Promise<void>,
  failure?: Error,
): Promise<{ kept: number; events: readonly string[] }> {
  let kept = 0;
  const events: string[] = [];
  const tellEvent = (about: string, notice: Notice): void =>
    void events.push(`${about} ${notice.reason}: ${notice.message}`);
  const leaks = new Leaks({
    clock: systemClock,
    bootId,
    journal: {
      leak: () => (failure === undefined ? Promise.resolve(void (kept += 1)) : Promise.reject(failure)),
      leaks: () => [],
      leakResolved: () => Promise.resolve(),
    },
    eventTeller: {
      ...silentEventTeller,
      aboutPod: (pod, notice) => tellEvent(`pod ${pod.name}`, notice),
      aboutNode: (notice) => tellEvent("node", notice),
    },
    logger: silentLogger,
  });
  await write(leaks).catch((thrown: unknown) => expect(thrown).toBe(failure));
  return { kept, events };
}

const record = aRecord(1);
const now = { path: record.netns.path, identity: record.netns.identity };
const failures = [
  {
    index: 0,
    links: record.chains[0]?.links ?? [],
    error: new LeveeError("delegate-failed", "the plugin failed"),
    hasTimedOut: false,
    linksAdded: 0,
  },
];

test("Leaks.settle writes an entry, and tells an event on the pod with the network and the reason", async () => {
  const { kept, events } = await told((leaks) => leaks.settle(record, now, failures));
  expect(kept).toBe(1);
  const [chain] = record.chains;
  expect(events).toEqual([
    `pod ${record.pod.name} NetworkLeaked: Could not undo ${chain?.network} (${chain?.ifname}): the plugin failed; it is tried again, see levee leaks`,
  ]);
});

test("Leaks.addUnknown tells an event on the node when the pod is unknown", async () => {
  const facts = { pod: undefined, netns: now, cniPath: "", bootId, reason: "the record is lost" };
  const { events } = await told((leaks) => leaks.addUnknown(record, facts));
  expect(events).toEqual([
    `node NetworkLeaked: Could not undo an attachment of container ${record.containerId}: the record is lost; it is tried again, see levee leaks`,
  ]);
});

test("Leaks tells no event when the entry could not be written", async () => {
  const full = new Error("disk full");
  expect(await told((leaks) => leaks.settle(record, now, failures), full)).toEqual({ kept: 0, events: [] });
});
