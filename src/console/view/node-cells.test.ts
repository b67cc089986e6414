import { describe, expect, test } from "bun:test";
import type { DaemonFacts } from "../facts/daemon-facts.ts";
import { nodeCell } from "./node-cells.ts";

const daemon: DaemonFacts = {
  heardMs: 95_000,
  ...{ adds: 0, dels: 0, byClass: [0, 0, 0, 0], running: 2, slots: 16, memoryBytes: 30, memoryLimitBytes: 100 },
  ...{ kills: 0, leaks: 0, held: 0, halfOpen: 0, hung: 0, oldestWaitMs: 0, rebootMs: 0 },
};
const sight = { name: "n1", isReady: true, daemon, waitingPods: 0, killed: [] };

describe("nodeCell", () => {
  test("says nothing more of a well node than it must", () => {
    expect(nodeCell(sight)).toEqual({
      ...{ name: "n1", state: "ok", isReady: true, slots: [2, 16], memory: [30, 100], heardMs: 90_000 },
    });
  });

  test.each([
    ["failed", { isReady: false }, "the node is not ready"],
    [
      "failed",
      { killed: [{ pod: "kube-system/multus-x", restarts: 12 }] },
      "kube-system/multus-x was killed for memory in the last hour, 12 restarts",
    ],
    ["warning", { isCordoned: true }, "cordoned: no new pods come here"],
    ["warning", { silence: "it is away" }, "it is away"],
    ["warning", { daemon: { ...daemon, leaks: 2 } }, "2 leaks"],
    ["warning", { daemon: { ...daemon, memoryBytes: 86 } }, "the daemon's memory is close to its limit"],
    ["warning", { rebootMs: 5, gate: "Deny" as const }, "a reboot is due, and the gate denies it"],
    ["busy", { daemon: { ...daemon, adds: 1 } }, "1 ADD in line"],
    ["busy", { waitingPods: 3, daemon: undefined }, "3 pods without a network yet"],
    ["unknown", { isReady: undefined, daemon: undefined }, undefined],
  ] as const)("is %s with %o", (state, more, why) => {
    const cell = nodeCell({ ...sight, ...more });
    expect(cell.state).toBe(state);
    expect(cell.why?.[0]).toBe(why as string);
  });

  test("takes the worst of several signs, and names it first", () => {
    const cell = nodeCell({ ...sight, isReady: false, daemon: { ...daemon, adds: 5, leaks: 1 } });
    expect(cell).toMatchObject({ state: "failed", adds: 5, leaks: 1 });
    expect(cell.why).toEqual(["the node is not ready", "1 leak", "5 ADDs in line"]);
  });
});
