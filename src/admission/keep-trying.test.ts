import { describe, expect, test } from "bun:test";
import { LeveeError } from "../base/errors.ts";
import { attachRequest, node, okRun, type Node } from "./admission.fixture.ts";
import { keepTrying } from "./keep-trying.ts";
import { Outage } from "./outage.fixture.ts";
import type { Permit } from "./permit.ts";

/** What the issue asks of a primary that fails for a minute: kubelet's longest pause and a probe, and a probe alone. */
const ordinaryMsMax = 20_000;
const criticalMsMax = 6_000;
const outageMs = 60_000;

describe("keepTrying, a primary that fails for a minute", () => {
  test("lets every pod of a full node in soon after", async () => {
    for (const seed of [1, 2]) {
      const outage = new Outage({ seed, outageMs, ordinary: 219, critical: 6, networks: ["primary", "x"] });
      await outage.run();
      expect(outage.attached).toHaveLength(225);
      expect(outage.worstMs(false)).toBeLessThan(ordinaryMsMax);
      expect(outage.worstMs(true)).toBeLessThan(criticalMsMax);
    }
  });

  test("lets every pod in soon after, whatever the order of events", async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const outage = new Outage({ seed, outageMs, ordinary: 30, critical: 6 });
      await outage.run();
      expect(outage.attached).toHaveLength(36);
      expect(outage.worstMs(false)).toBeLessThan(ordinaryMsMax);
      expect(outage.worstMs(true)).toBeLessThan(criticalMsMax);
    }
  });

  test("tries the broken network about once in five seconds, not once per pod", async () => {
    const outage = new Outage({ seed: 3, outageMs, ordinary: 219, critical: 6 });
    await outage.run();
    // Before it was known to be broken, then probes, and the first try of each critical call.
    expect(outage.failedAtMs.filter((atMs) => atMs < 4_000).length).toBeLessThanOrEqual(12);
    expect(outage.failedAtMs.filter((atMs) => atMs >= 4_000).length).toBeLessThanOrEqual(56 / 5 + 6 + 1);
  });
});

const priority = 2_000_000_000;
const failure = { cause: "network", network: "primary", reason: "broken" } as const;

/** Three failed ADDs of other pods open the network. */
async function broken(): Promise<Node> {
  const made = node();
  for (let pod = 0; pod < 3; pod += 1) {
    using permit = await made.admission.admit(attachRequest({ pod: `b/${pod}` }), new AbortController().signal);
    permit.settle(failure);
  }
  expect(made.admission.isFailing("primary")).toBe(true);
  return made;
}

function call({ admission, clock }: Node, leftMs: number, facts: Parameters<typeof attachRequest>[0] = {}) {
  const caller = new AbortController();
  const seen = { tries: [] as number[], answer: undefined as unknown };
  const endsMs = clock.monotonicMs() + leftMs;
  const attempt = (permit: Permit): Promise<string> => {
    seen.tries.push(clock.monotonicMs());
    permit.settle(failure);
    return Promise.reject(new LeveeError("delegate-failed", `try ${seen.tries.length}`));
  };
  const attempts = { admission, clock, signal: caller.signal, leftMs: () => endsMs - clock.monotonicMs(), attempt };
  admission
    .admit(attachRequest({ priority, ...facts }), caller.signal)
    .then((permit) => keepTrying(permit, attempts))
    .catch((thrown: unknown) => {
      seen.answer = thrown;
    });
  return { caller, seen };
}

describe("keepTrying", () => {
  test("tries a critical pod again at each probe, then answers with the last failure while an undo still fits", async () => {
    const made = await broken();
    const { seen } = call(made, 45_000);
    await made.clock.advance(60_000);
    expect(seen.tries).toHaveLength(8);
    expect(seen.tries.every((atMs) => atMs <= 40_000)).toBe(true);
    expect(seen.answer).toMatchObject({ code: "delegate-failed", message: "try 8" });
    expect(made.admission.facts()).toMatchObject({ attaching: 0, waiting: { critical: 0 } });
  });

  test.each([
    { what: "an ordinary pod", leftMs: 45_000, facts: { priority: 0 } },
    { what: "one whose time is used up", leftMs: 2_000, facts: {} },
  ])("answers at once for $what", async ({ leftMs, facts }) => {
    const made = await broken();
    // A probe is due, so that the ordinary one goes, too.
    await made.clock.advance(5_000);
    const { seen } = call(made, leftMs, facts);
    await made.clock.advance(300);
    expect(seen).toMatchObject({ tries: [5_000], answer: { message: "try 1" } });
  });

  test("answers at once while the network fails for one pod only", async () => {
    const made = node();
    const { seen } = call(made, 45_000);
    await made.clock.advance(300);
    expect(seen).toMatchObject({ tries: [0], answer: { message: "try 1" } });
  });

  test("ends with its caller, and leaves nothing in line", async () => {
    const made = await broken();
    const { caller, seen } = call(made, 45_000);
    await made.clock.advance(1_000);
    expect(made.admission.facts().waiting).toMatchObject({ critical: 1 });
    caller.abort(new LeveeError("hand-lost", "gone"));
    await made.clock.advance(0);
    expect(seen.answer).toMatchObject({ code: "hand-lost" });
    expect(made.admission.facts().waiting).toMatchObject({ critical: 0 });
    await made.clock.advance(60_000);
    expect(made.clock.timers).toBe(0);
  });

  test("goes at once when another pod's success shows that the network works", async () => {
    const made = await broken();
    await made.clock.advance(5_000);
    using probe = await made.admission.admit(attachRequest({ pod: "p/1" }), new AbortController().signal);
    const { seen } = call(made, 45_000);
    await made.clock.advance(1_000);
    expect(seen.tries).toHaveLength(1);
    probe.ran(okRun());
    await made.clock.advance(0);
    expect(seen.tries).toHaveLength(2);
  });
});
