import { describe, expect, test } from "bun:test";
import type { IfName } from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import type { Journal } from "./journal.ts";
import { leakOf } from "./leak-ledger.ts";
import { aFolder, aRecord, containerId, json, openIn, tokenOf } from "./record.fixture.ts";

/** What the journal should hold, kept the simplest way: token to phase, and the IDs of leaks. */
interface Model {
  readonly phases: Map<number, string>;
  readonly leaks: Set<string>;
}

const large = json(`{"pad":"${"x".repeat(25_000)}"}`);

function pick(random: () => number, model: Model): number | undefined {
  const numbers = [...model.phases.keys()];
  return numbers[Math.floor(random() * numbers.length)];
}

async function act(journal: Journal, model: Model, random: () => number, next: number): Promise<void> {
  const number = pick(random, model);
  const choice = Math.floor(random() * 9);
  if (number === undefined || choice <= 2) {
    await journal.begin(aRecord(next, { containerId: containerId(`c${next % 50}`), ifname: `if${next}` as IfName }));
    model.phases.set(next, "intent");
    return;
  }
  const token = tokenOf(number);
  const record = journal.findByToken(token);
  if (choice === 3) await journal.step(token, { step: next, result: large });
  if (choice === 4) await journal.commit(token, [large]).then(() => model.phases.set(number, "committed"));
  if (choice === 5) await journal.acknowledge(token).then(() => model.phases.set(number, "acknowledged"));
  if (choice === 6 && record !== undefined) {
    const leak = leakOf(record, [0], "busy", systemClock);
    await journal.leak(leak);
    model.leaks.add(leak.id);
  }
  if (choice >= 6) await journal.removed(token).then(() => model.phases.delete(number));
  if (choice === 8) await resolveOne(journal, model);
}

async function resolveOne(journal: Journal, model: Model): Promise<void> {
  for (const id of model.leaks) {
    await journal.leakResolved(id);
    model.leaks.delete(id);
    return;
  }
}

function expectSame(journal: Journal, model: Model): void {
  const phases = new Map(journal.all().map((record) => [Number.parseInt(record.token, 16), record.phase as string]));
  // In the order of their begin, which tells the later of two records.
  expect([...phases]).toEqual([...model.phases]);
  expect(new Set(journal.leaks().map(({ id }) => id))).toEqual(model.leaks);
}

describe("Journal against a model", () => {
  test("random histories with restarts and compactions end in the state of a plain map", async () => {
    for (const seed of [1, 2, 3]) {
      let state = seed;
      const random = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
      const folder = await aFolder();
      const model: Model = { phases: new Map(), leaks: new Set() };
      let compactions = 0;
      for (let start = 0; start < 4; start += 1) {
        const journal = await openIn(folder);
        expectSame(journal, model);
        for (let step = 0; step < 250; step += 1) await act(journal, model, random, start * 1_000 + step + 1);
        expectSame(journal, model);
        compactions += journal.stats().compactions;
        const { liveBytes, logBytes } = journal.stats();
        expect(liveBytes).toBeGreaterThanOrEqual(0);
        expect(liveBytes).toBeLessThanOrEqual(logBytes);
        for (const record of journal.all()) expect(journal.knows(record.containerId)).toBe("live");
        await journal.close();
      }
      expect(compactions).toBeGreaterThan(0);
    }
  }, 60_000);

  test("stays flat: after thousands of attachments came and went nothing is left", async () => {
    const journal = await openIn(await aFolder());
    for (let round = 0; round < 30; round += 1) {
      const numbers = Array.from({ length: 200 }, (_, offset) => round * 200 + offset);
      await Promise.all(numbers.map((number) => journal.begin(aRecord(number))));
      await Promise.all(numbers.map((number) => journal.removed(tokenOf(number))));
    }
    expect(journal.stats()).toMatchObject({ attachments: 0, liveBytes: 0, orphans: 0 });
    expect(journal.stats().logBytes).toBeLessThan(1_500_000);
    expect(journal.knows(containerId("container5999"))).toBe("settled");
    expect(journal.knows(containerId("container1"))).toBe("never-added");
    await journal.close();
  });
});
