import { describe, expect, test } from "bun:test";
import { slotUse, type SlotSample } from "./idle-slots.ts";

const busy = { attaching: 4, limit: 4, waiting: 9 };
const free = { attaching: 3, limit: 4, waiting: 9 };
const noneWaits = { attaching: 3, limit: 8, waiting: 0 };

function at(...samples: readonly [number, Omit<SlotSample, "atMs">][]): readonly SlotSample[] {
  return samples.map(([atMs, sample]) => ({ atMs, ...sample }));
}

describe("slotUse", () => {
  test("weighs each sample with the time until the next one", () => {
    const use = slotUse(at([0, busy], [250, free], [500, busy], [1_000, busy]));
    expect(use).toMatchObject({ samples: 3, waitedMs: 1_000, freeShare: 0.25 });
  });

  test("leaves out the time in which no pod waits, and the limit of that time", () => {
    const use = slotUse(
      at([0, noneWaits], [250, busy], [500, { ...free, limit: 6 }], [750, noneWaits], [9_000, noneWaits]),
    );
    expect(use).toEqual({ samples: 2, waitedMs: 500, freeShare: 0.5, limitMin: 4, limitMax: 6 });
  });

  test("does not take more running than allowed for a free slot", () => {
    expect(slotUse(at([0, { ...busy, attaching: 5 }], [250, busy]))).toMatchObject({ freeShare: 0 });
  });

  test.each([[[]], [at([0, busy])], [at([0, noneWaits], [250, noneWaits])]])(
    "says nothing of %j, where no time passes with a pod in line",
    (samples) => {
      expect(slotUse(samples)).toBeUndefined();
    },
  );
});
