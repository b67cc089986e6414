import { expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import type { ContainerId, IfName } from "../../base/brand.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import type { Hand } from "../../hands/hand.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import { LeveeError } from "../../base/errors.ts";
import type { LostContainer } from "./lost-container.ts";
import type { Rebuilt } from "./rebuild-record.ts";
import { UndoUnknown, type InSlot } from "./undo-unknown.ts";

const container: LostContainer = {
  containerId: "c1" as ContainerId,
  ifname: "eth0" as IfName,
  args: parseCniArgs("K8S_POD_NAMESPACE=default;K8S_POD_NAME=web"),
  cniPath: "",
  now: { path: "", identity: undefined },
  config: () => Promise.reject(new Error("the configuration was asked for")),
};

interface Facts {
  readonly isLost: "lost" | "never" | "unknown";
  readonly sign?: string;
  readonly found?: Rebuilt;
  readonly failure?: LeveeError;
}

/** Deletes a container without a record; `done` lists the effects in order. */
async function deleted(facts: Facts) {
  const timeline = new KeptTimeline();
  const done: string[] = [];
  const note = (what: string): Promise<void> => Promise.resolve(void done.push(what));
  const unknown = new UndoUnknown({
    bootId: "boot",
    logger: silentLogger,
    journal: {
      forget: (containerId) => note(`forget ${containerId}`),
      suspect: (ids) => note(`suspect ${ids.join()}`),
    },
    offline: { dropDelete: (containerId, ifname) => note(`drop ${containerId}:${ifname}`) },
    timeline,
    lost: { isLost: () => Promise.resolve(facts.isLost), find: () => Promise.resolve(facts.found) },
    signs: {
      find: () => note("looked").then(() => facts.sign),
      netnsOf: (_hand, { now }) => Promise.resolve(now),
    },
    undo: {
      chains: () =>
        note("ran").then(() =>
          facts.failure === undefined
            ? []
            : [{ index: 0, links: [], error: facts.failure, hasTimedOut: false, linksAdded: 0 }],
        ),
    },
    leaks: {
      add: (_record, _now, failures) => note(`leaks ${failures.map(({ error }) => error.message).join()}`),
      addUnknown: (_container, { reason }) => note(`unknown leak: ${reason}`),
    },
    mirror: { remove: () => note("mirror removed").then(() => undefined) },
  });
  const inSlot: InSlot = (_record, run) => note("slot").then(() => run());
  await unknown.delete({} as Hand, container, { inSlot });
  return { done, story: timeline.of("default", "web") };
}

const whole: Rebuilt = { record: aRecord(1), lack: "" };

test("UndoUnknown.delete of a container that Levee deleted or refused neither looks nor waits for a slot", async () => {
  const { done, story } = await deleted({ isLost: "never" });
  expect(done).toEqual(["drop c1:eth0"]);
  expect(story).toMatchObject([{ containerId: "c1", verb: "DEL", what: "finished", detail: "nothing to undo" }]);
});

test("UndoUnknown.delete of an unknown container without a sign of it runs nothing and waits for no slot", async () => {
  const { done, story } = await deleted({ isLost: "unknown" });
  expect(done).toEqual(["looked", "drop c1:eth0"]);
  expect(story).toMatchObject([{ what: "finished", detail: "nothing to undo" }]);
});

test("UndoUnknown.delete of an unknown container with a sign of it runs its plugins in a slot", async () => {
  const { done, story } = await deleted({
    isLost: "unknown",
    sign: "eth0 is in /a",
    found: { ...whole, lack: "gone" },
  });
  expect(done).toEqual([
    "looked",
    "suspect c1",
    "slot",
    "ran",
    "leaks ",
    "mirror removed",
    "forget c1",
    "drop c1:eth0",
  ]);
  expect(story[0]).toMatchObject({ what: "found", detail: "the journal does not know it, but eth0 is in /a" });
});

test("UndoUnknown.delete undoes a record that was found elsewhere, and writes its failures to the leak ledger", async () => {
  const failure = new LeveeError("delegate-failed", "no switch");
  const { done } = await deleted({ isLost: "lost", found: whole, failure });
  expect(done).toEqual(["slot", "ran", "leaks no switch", "mirror removed", "forget c1", "drop c1:eth0"]);
});

test("UndoUnknown.delete writes a leak for the networks that a lost record had and that are unknown now", async () => {
  const { done } = await deleted({ isLost: "lost", found: { ...whole, lack: "its pod is gone" } });
  expect(done).toContain("ran");
  expect(done).toContain("unknown leak: the journal lost its record, and its pod is gone");
});

test("UndoUnknown.delete writes a leak when no record can be found", async () => {
  const { done } = await deleted({ isLost: "lost" });
  expect(done[0]).toStartWith("unknown leak: the journal lost its record");
  expect(done.slice(1)).toEqual(["forget c1", "drop c1:eth0"]);
});
