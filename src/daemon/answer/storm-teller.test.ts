import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { StormTeller } from "./storm-teller.ts";

function teller(): { readonly storms: StormTeller; nowMs: number; looks: number; isBroken: boolean } {
  const state = { nowMs: 0, looks: 0, isBroken: false };
  const storms = new StormTeller({
    clock: { ...systemClock, monotonicMs: () => state.nowMs },
    recorder: {
      read: async (reader) => {
        state.looks += 1;
        if (state.isBroken) throw new Error("EIO");
        return await reader("/nowhere/recorder");
      },
    },
  });
  return Object.assign(state, { storms });
}

test("StormTeller reads once for those who ask at the same time, and then rests, however many ask", async () => {
  const node = teller();
  const [first, second] = await Promise.all([node.storms.of(), node.storms.of()]);
  expect([first, second, node.looks]).toEqual([{ sinceMs: 0, storms: [] }, first, 1]);
  node.nowMs = 4_999;
  expect([await node.storms.of(), node.looks]).toEqual(["busy", 1]);
  node.nowMs = 5_000;
  expect([await node.storms.of(), node.looks]).toEqual([{ sinceMs: 0, storms: [] }, 2]);
});

test("StormTeller fails with the disk, rests as well, and works again afterwards", async () => {
  const node = teller();
  node.isBroken = true;
  expect(await node.storms.of().catch(String)).toBe("Error: EIO");
  expect(await node.storms.of()).toBe("busy");
  Object.assign(node, { isBroken: false, nowMs: 5_000 });
  expect(await node.storms.of()).toEqual({ sinceMs: 0, storms: [] });
});
