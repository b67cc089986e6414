import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { aRecord, bootId } from "../../state/journal/record.fixture.ts";
import { silentEventTeller, type Notice } from "../tell/event-teller.ts";
import { Leaks } from "./leaks.ts";

/** What the ledger keeps and the cluster hears while `write` is done. */
async function told(
  write: (leaks: Leaks) => Promise<void>,
  failure?: Error,
): Promise<{ kept: number; said: readonly string[] }> {
  let kept = 0;
  const said: string[] = [];
  const say = (about: string, notice: Notice): void => void said.push(`${about} ${notice.reason}: ${notice.message}`);
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
      aboutPod: (pod, notice) => say(`pod ${pod.name}`, notice),
      aboutNode: (notice) => say("node", notice),
    },
    logger: silentLogger,
  });
  await write(leaks).catch((thrown: unknown) => expect(thrown).toBe(failure));
  return { kept, said };
}

const record = aRecord(1);
const now = { path: record.netns.path, identity: record.netns.identity };
const failures = [{ index: 0, error: new LeveeError("delegate-failed", "the plugin failed") }];

test("Leaks.settle writes it down and tells the pod which network is left and why", async () => {
  const { kept, said } = await told((leaks) => leaks.settle(record, now, failures));
  expect(kept).toBe(1);
  const [chain] = record.chains;
  expect(said).toEqual([
    `pod ${record.pod.name} NetworkLeaked: Could not undo ${chain?.network} (${chain?.ifname}): the plugin failed; it is tried again, see levee leaks`,
  ]);
});

test("Leaks.addUnknown tells the node where no pod is known", async () => {
  const facts = { pod: undefined, netns: now, cniPath: "", bootId, reason: "the record is lost" };
  const { said } = await told((leaks) => leaks.addUnknown(record, facts));
  expect(said).toEqual([
    `node NetworkLeaked: Could not undo an attachment of container ${record.containerId}: the record is lost; it is tried again, see levee leaks`,
  ]);
});

test("Leaks tells nothing that could not be written down", async () => {
  const full = new Error("disk full");
  expect(await told((leaks) => leaks.settle(record, now, failures), full)).toEqual({ kept: 0, said: [] });
});
