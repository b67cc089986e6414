import { beforeEach, describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Hand } from "../../hands/hand.ts";
import { outcome } from "../../hands/outcome.fixture.ts";
import type { RunOrder } from "../../wire/messages.ts";
import type { Outcome } from "../../wire/outcome.ts";
import { Canary } from "./canary.ts";
import type { PluginFolders } from "./plugin-folders.ts";

let nowMs = 0;
let tick: () => void = () => undefined;
let orders: RunOrder[] = [];
let answer: (order: RunOrder) => Promise<Outcome>;
let facts: { isLost: boolean; busy: number; supports: () => boolean };
let isHere = true;
let source: PluginFolders["source"] = "runtime";

const clock: Clock = {
  ...systemClock,
  monotonicMs: () => nowMs,
  wallMs: () => nowMs,
  every: (_ms, callback) => {
    tick = callback;
    return () => undefined;
  },
};

beforeEach(() => {
  nowMs = 1_000;
  orders = [];
  isHere = true;
  source = "runtime";
  facts = { isLost: false, busy: 0, supports: () => true };
  answer = () => Promise.resolve(outcome({ exitCode: 0 }));
});

function make(): Canary {
  const run = (order: RunOrder): Promise<Outcome> => {
    orders.push(order);
    nowMs += 20;
    return answer(order);
  };
  const identity = { software: "levee-shim 0.0.9" };
  // Only what the canary uses of a hand.
  const hand = Object.defineProperties({ run, identity }, Object.getOwnPropertyDescriptors(facts)) as unknown as Hand;
  return new Canary({
    clock,
    resident: () => (isHere ? { hand, sinceWallMs: 0 } : undefined),
    folders: () => ({ folders: ["/opt/cni/bin", "/usr/lib/cni"], source }),
  });
}

async function turn(): Promise<void> {
  tick();
  await systemClock.sleep(1);
}

describe("Canary", () => {
  test("runs loopback ADD and DEL in scratch namespaces, and measures the time", async () => {
    const canary = make();
    expect(canary.facts().canary).toBeUndefined();
    await turn();
    expect(
      orders.map(({ plugin, env, scratchNetns }) => [plugin, env["CNI_COMMAND"], scratchNetns] as unknown),
    ).toEqual([
      ["loopback", "ADD", true],
      ["loopback", "DEL", true],
    ]);
    nowMs += 500;
    expect(canary.last).toEqual({ isSuccess: true, isInconclusive: false, reason: "", tookMs: 40, ageMs: 500 });
  });

  test("runs at most once a minute", async () => {
    make();
    await turn();
    nowMs += 59_000;
    await turn();
    expect(orders).toHaveLength(2);
    nowMs += 1_000;
    await turn();
    expect(orders).toHaveLength(4);
  });

  test("reports a missing plugin, and the folders searched", async () => {
    answer = () => Promise.resolve(outcome({ failure: "missing" }));
    const canary = make();
    await turn();
    expect(orders).toHaveLength(1);
    expect(canary.last).toMatchObject({
      isSuccess: false,
      isInconclusive: false,
      reason: "the plugin loopback is not in /opt/cni/bin:/usr/lib/cni, so nothing could be tried",
    });
  });

  test("is inconclusive when the plugin is missing in a guessed folder", async () => {
    source = "guess";
    answer = () => Promise.resolve(outcome({ failure: "missing" }));
    const canary = make();
    await turn();
    expect(canary.last).toMatchObject({ isSuccess: false, isInconclusive: true });
    answer = () => Promise.resolve(outcome({ exitCode: 3 }));
    nowMs += 60_000;
    await turn();
    expect(canary.last).toMatchObject({ isSuccess: false, isInconclusive: false });
  });

  test("reports the failed verb, with the end of stderr", async () => {
    answer = ({ env }) =>
      Promise.resolve(outcome(env["CNI_COMMAND"] === "ADD" ? { exitCode: 0 } : { exitCode: 3, stderr: "no memory" }));
    const canary = make();
    await turn();
    expect(canary.last?.reason).toMatch(/^DEL: canary \(lo\): loopback failed with exit code 3 .*: no memory$/u);
  });

  test("keeps its last result when the hand is lost, and records any other error", async () => {
    const canary = make();
    answer = () => Promise.reject(new LeveeError("protocol-violated", "refused"));
    await turn();
    expect(canary.last?.reason).toBe("refused");
    nowMs += 60_000;
    facts.isLost = true;
    const second = make();
    answer = () => Promise.reject(new LeveeError("hand-lost", "gone"));
    await turn();
    expect(second.last).toBeUndefined();
  });

  test("tries nothing without a hand, or with a busy or an old one", async () => {
    isHere = false;
    const canary = make();
    await turn();
    expect(canary.facts()).toMatchObject({ isPresent: false });
    isHere = true;
    facts.busy = 8;
    make();
    await turn();
    facts.busy = 0;
    facts.supports = () => false;
    const old = make();
    await turn();
    expect(orders).toEqual([]);
    expect(old.facts().canaryLack).toContain("levee-shim 0.0.9");
  });
});
