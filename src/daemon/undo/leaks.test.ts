import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import { leakOf, type LeakEntry } from "../../state/journal/leak-ledger.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import type { Notice } from "../tell/announcer.ts";
import { keepLeak } from "./leaks.ts";

async function told(leak: LeakEntry, failure?: Error): Promise<{ kept: number; said: readonly string[] }> {
  let kept = 0;
  const said: string[] = [];
  const say = (about: string, notice: Notice): void => void said.push(`${about} ${notice.reason}: ${notice.message}`);
  const journal = { leak: () => (failure === undefined ? Promise.resolve(void (kept += 1)) : Promise.reject(failure)) };
  const announcer = {
    aboutPod: (pod: { name: string }, notice: Notice) => say(`pod ${pod.name}`, notice),
    aboutNode: (notice: Notice) => say("node", notice),
    aboutNetwork: () => undefined,
  };
  const ports = { journal, announcer, logger: silentLogger } as unknown as Parameters<typeof keepLeak>[1]; // only what it uses
  await keepLeak(leak, ports).catch((thrown: unknown) => expect(thrown).toBe(failure));
  return { kept, said };
}

test("keepLeak writes it down and tells the pod which network is left and why", async () => {
  const record = aRecord(1);
  const { kept, said } = await told(leakOf(record, [0], "the plugin failed", systemClock));
  expect(kept).toBe(1);
  const [chain] = record.chains;
  expect(said).toEqual([
    `pod ${record.pod.name} NetworkLeaked: Could not undo ${chain?.network} (${chain?.ifname}): the plugin failed; it is tried again, see levee leaks`,
  ]);
});

test("keepLeak tells the node where no pod is known", async () => {
  const leak = leakOf(aRecord(1), [0], "the plugin failed", systemClock);
  const { said } = await told({ ...leak, pod: undefined, chains: [] });
  expect(said).toEqual([
    `node NetworkLeaked: Could not undo an attachment of container ${leak.containerId}: the plugin failed; it is tried again, see levee leaks`,
  ]);
});

test("keepLeak says nothing that could not be written down", async () => {
  expect(await told(leakOf(aRecord(1), [0], "x", systemClock), new Error("disk full"))).toEqual({ kept: 0, said: [] });
});
