import { expect, test } from "bun:test";
import type { PodUid } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import { jsonValue } from "../../cni/json-text.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { startStatusRepair } from "./status-repair.ts";
import { silentStatusTeller, type PodStatus } from "./status-teller.ts";
import { statusOf } from "./tell-attached.ts";
import { emptyView, type LiveView } from "../../view/view.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

const key = "k8s.v1.cni.cncf.io/network-status";
const result = jsonValue({ interfaces: [{ name: "eth0", sandbox: "/x" }], ips: [{ address: "10.0.0.2/24" }] });
const base = aRecord(1);
const record: AttachmentRecord = { ...base, phase: "acknowledged", results: base.chains.map(() => result) };
const wanted = await statusOf(record, {
  config: { deviceInfoDir: "/nowhere" },
  logger: silentLogger,
});
const annotation = wanted?.annotation ?? "";

/** The statuses that are told again when these pods are in the first list, or come later. */
async function repaired(
  records: readonly AttachmentRecord[],
  first: readonly PodFacts[],
  later: readonly PodFacts[] = [],
): Promise<readonly PodStatus[]> {
  const clock = new ManualClock();
  const told: PodStatus[] = [];
  let tell: (pod: PodFacts) => void = () => undefined;
  const live: Partial<LiveView> = {
    podsSynced: () => Promise.resolve(),
    onNewPod: (listener) => {
      tell = listener;
      return () => undefined;
    },
  };
  const all = [...first, ...later];
  const service = startStatusRepair({
    clock,
    logger: silentLogger,
    config: { deviceInfoDir: "/nowhere" },
    journal: { forPod: () => records },
    statusTeller: {
      ...silentStatusTeller,
      tell: (status: PodStatus) => {
        told.push(status);
        return Promise.resolve("delivered");
      },
    },
    // Only these parts are used.
    view: { ...emptyView, live: live as LiveView, pods: () => first, findPod: () => Promise.resolve(all.at(-1)) },
  });
  await clock.advance(1_000);
  for (const pod of later) tell(pod);
  await clock.advance(1_000);
  await service.stop();
  return told;
}

function pod(status: string | undefined, more: Partial<PodFacts> = {}): PodFacts {
  const annotations = status === undefined ? {} : { [key]: status };
  return { ...record.pod, annotations, priority: undefined, isStatic: false, ...more };
}

test.each([
  ["is missing", pod(undefined)],
  ["says something else", pod("[]")],
  ["is not JSON", pod("{")],
  ["is missing on a static pod's mirror", pod(undefined, { isStatic: true, uid: "mirror" as PodUid })],
])("startStatusRepair tells a status again that %s", async (_what, facts) => {
  expect(await repaired([record], [facts])).toEqual([{ pod: record.pod, containerId: record.containerId, annotation }]);
});

test("startStatusRepair tells the status of a pod that appears after its ADD", async () => {
  expect(await repaired([record], [], [pod(undefined)])).toHaveLength(1);
});

test.each([
  ["is right", pod(annotation), record],
  ["has entries of others too", pod(`${annotation.slice(0, -1)},{"name":"hot/plugged","dns":{}}]`), record],
  ["belongs to another pod of the same name", pod(undefined, { uid: "other" as PodUid }), record],
  ["belongs to a pod that is going away", pod(undefined, { isDeleting: true }), record],
  ["is not decided yet", pod(undefined), { ...record, phase: "intent" } as const],
  ["was written by Multus", pod(undefined), { ...record, origin: "multus" } as const],
])("startStatusRepair leaves a status alone that %s", async (_what, facts, known) => {
  expect(await repaired([known], [facts])).toEqual([]);
});

test("startStatusRepair takes the pod's newest container", async () => {
  const newer = { ...record, containerId: "newer", startedWallMs: record.startedWallMs - 1 } as AttachmentRecord;
  expect(await repaired([record, newer], [pod(undefined)])).toMatchObject([{ containerId: "newer" }]);
});
