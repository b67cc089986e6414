import { expect, test } from "bun:test";
import type { ContainerId, IfName } from "../../base/brand.ts";
import { parseCniArgs } from "../../cni/cni-args.ts";
import type { Hand } from "../../hands/hand.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import { LeveeError } from "../../base/errors.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { LostContainer } from "./lost-records.ts";
import { UndoUnknown } from "./undo-unknown.ts";

const container: LostContainer = {
  containerId: "c1" as ContainerId,
  ifname: "eth0" as IfName,
  args: parseCniArgs("K8S_POD_NAMESPACE=default;K8S_POD_NAME=web"),
  cniPath: "",
  now: { path: "", identity: undefined },
  config: () => Promise.reject(new Error("the configuration was asked for")),
};

/** Deletes a container without a record; `done` lists the effects in order. */
async function deleted(facts: { mayExist: boolean; record?: AttachmentRecord; failure?: LeveeError }) {
  const timeline = new KeptTimeline();
  const done: string[] = [];
  const note = (what: string): Promise<void> => Promise.resolve(void done.push(what));
  const unknown = new UndoUnknown({
    bootId: "boot",
    journal: {
      forget: (containerId) => note(`forget ${containerId}`),
    },
    offline: { dropDelete: (containerId, ifname) => note(`drop ${containerId}:${ifname}`) },
    timeline,
    lost: { mayExist: () => Promise.resolve(facts.mayExist), find: () => Promise.resolve(facts.record) },
    undo: {
      chains: () =>
        Promise.resolve(
          facts.failure === undefined ? [] : [{ index: 0, links: [], error: facts.failure, hasTimedOut: false }],
        ),
    },
    leaks: {
      add: (_record, _now, failures) => note(`leaks ${failures.map(({ error }) => error.message).join()}`),
      addUnknown: (_container, { reason }) => note(`unknown leak: ${reason}`),
    },
    mirror: { remove: () => note("mirror removed").then(() => undefined) },
  });
  await unknown.delete({} as Hand, container);
  return { done, story: timeline.of("default", "web") };
}

test("UndoUnknown.delete of a container that was never attached notes that there was nothing to undo", async () => {
  const { done, story } = await deleted({ mayExist: false });
  expect(done).toEqual(["drop c1:eth0"]);
  expect(story).toMatchObject([{ containerId: "c1", verb: "DEL", what: "finished", detail: "nothing to undo" }]);
});

test("UndoUnknown.delete undoes a record that was found elsewhere, and writes its failures to the leak ledger", async () => {
  const failure = new LeveeError("delegate-failed", "no switch");
  const { done } = await deleted({ mayExist: true, record: aRecord(1), failure });
  expect(done).toEqual(["leaks no switch", "mirror removed", "forget c1", "drop c1:eth0"]);
});

test("UndoUnknown.delete writes a leak when no record can be found", async () => {
  const { done } = await deleted({ mayExist: true });
  expect(done[0]).toStartWith("unknown leak: the journal lost its record");
  expect(done.slice(1)).toEqual(["forget c1", "drop c1:eth0"]);
});
