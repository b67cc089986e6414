import { describe, expect, test } from "bun:test";
import { settle } from "../base/virtual-clock.fixture.ts";
import { requestSlot, attachRequest, detachRequest, node } from "./admission.fixture.ts";
import { Chaos, chaosLimits } from "./chaos.fixture.ts";

async function chaos(seed: number, steps: number): Promise<Chaos> {
  const run = new Chaos(seed);
  for (let step = 0; step < steps; step += 1) await run.step();
  return run;
}

describe("Admission, whatever happens", () => {
  test.each(Array.from({ length: 20 }, (_, seed) => [seed + 1]))(
    "keeps its limits and loses no slot (seed %d)",
    async (seed) => {
      const run = await chaos(seed, 300);
      await run.end();
      expect(run.admission.facts()).toMatchObject({
        attaching: 0,
        detaching: 0,
        hung: 0,
        waiting: { detach: 0, critical: 0, ordinary: 0, penalty: 0 },
        delegateBytes: 0,
        flows: [],
      });
      expect(run.clock.timers).toBe(0);
      await allSlotsWork(run);
    },
  );

  test("decides the same for the same seed", async () => {
    const [first, again, other] = [await chaos(7, 400), await chaos(7, 400), await chaos(8, 400)];
    expect(first.story.length).toBeGreaterThan(200);
    expect(again.story).toEqual(first.story);
    expect(other.story).not.toEqual(first.story);
  });
});

/** After all that, as many run at once as ever may. */
async function allSlotsWork({ admission, clock }: Chaos): Promise<void> {
  // Holds, open networks and a full memory are over.
  await clock.advance(600_000);
  admission.observe({ ownMemory: undefined, pressure: {} });
  const { limit } = admission.facts();
  const adds = Array.from({ length: 20 }, (_, pod) =>
    requestSlot(admission, attachRequest({ pod: `z/${pod}`, namespace: "z", networks: ["new"] })),
  );
  const dels = Array.from({ length: 20 }, (_, pod) => requestSlot(admission, detachRequest({ pod: `z/${pod}` })));
  await settle();
  expect(adds.filter(({ permit }) => permit !== undefined)).toHaveLength(limit);
  expect(dels.filter(({ permit }) => permit !== undefined)).toHaveLength(chaosLimits.detachCeiling);
}

test("a cancelled request costs nothing: the others are served as if it had never been", async () => {
  const plain = await orderOf(3, 0);
  const haunted = await orderOf(3, 5);
  expect(plain).toHaveLength(60);
  expect(haunted).toEqual(plain);
});

/** The order in which 60 pods are served while `ghosts` callers per pod come and go away again. */
async function orderOf(seed: number, ghosts: number): Promise<readonly string[]> {
  const { admission, clock, rulings } = node({ attachCeiling: 2 }, seed);
  for (let pod = 0; pod < 60; pod += 1) {
    const namespace = `n${pod % 5}`;
    for (let ghost = 0; ghost < ghosts; ghost += 1) {
      const caller = new AbortController();
      const own = ghost % 2 === 0 ? namespace : `ghosts${ghost}`;
      // Slots are full from the third pod on; before that a ghost would be served, and that does cost.
      if (pod < 2) continue;
      requestSlot(admission, attachRequest({ pod: `ghost/${pod}-${ghost}`, namespace: own }), caller.signal);
      caller.abort(new Error("gone"));
    }
    void admission.admit(attachRequest({ pod: `${namespace}/${pod}`, namespace }), never()).then(async (permit) => {
      await clock.sleep(20);
      permit[Symbol.dispose]();
    });
  }
  await clock.advance(2_000);
  return rulings.filter(({ what }) => what === "admitted").map(({ request }) => request?.pod ?? "");
}

function never(): AbortSignal {
  return new AbortController().signal;
}

test("the seed alone decides which namespaces share a line, and how long a pod is held", async () => {
  const [first, again, other] = [await chances(5), await chances(5), await chances(6)];
  expect(again).toEqual(first);
  expect(other.order).not.toEqual(first.order);
  expect(other.heldMs).not.toEqual(first.heldMs);
});

/** The order in which pods of more namespaces than there are lines are served, and the hold of one that failed. */
async function chances(seed: number): Promise<{ readonly order: readonly string[]; readonly heldMs: number }> {
  const { admission, clock, rulings } = node({ attachCeiling: 1 }, seed);
  for (let pod = 0; pod < 300; pod += 1) {
    const namespace = `n${pod % 150}`;
    void admission.admit(attachRequest({ pod: `${namespace}/${pod}`, namespace }), never()).then(async (permit) => {
      await clock.sleep(10);
      permit[Symbol.dispose]();
    });
  }
  await clock.advance(4_000);
  admission.charge({ pod: "p", wants: () => "" }, { cause: "own", reason: "no" });
  const order = rulings.filter(({ what }) => what === "admitted").map(({ request }) => request?.pod ?? "");
  expect(order).toHaveLength(300);
  return { order, heldMs: admission.failuresOf("p")?.nextTryMs ?? 0 };
}
