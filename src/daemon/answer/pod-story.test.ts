import { expect, test } from "bun:test";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { aRecord } from "../../state/journal/record.fixture.ts";
import { holdsAnswer } from "./holds-answer.ts";
import { PodStories } from "./pod-story.ts";

const pod = { namespace: "shop" as Namespace, name: "web-0" as PodName, uid: "uid-1" as PodUid };
const entry = { wallMs: 1, pod: "shop/web-0", containerId: "c", verb: "ADD", what: "asked", facts: {} };

function stories(known: { readonly inView?: boolean; readonly inJournal?: boolean }): {
  readonly stories: PodStories;
  readonly reads: string[];
} {
  const reads: string[] = [];
  const needs = {
    attachments: {
      journal: { all: () => (known.inJournal === true ? [aRecord(1, { pod }), aRecord(2)] : [aRecord(2)]) },
      recovery: { isPending: () => false, isDeletePending: () => false },
    },
    timeline: {
      recorder: {
        of: (namespace: string, name: string) => {
          reads.push(`${namespace}/${name}`);
          return Promise.resolve({ entries: [entry], omitted: 0 });
        },
        notice: undefined,
      },
      sourceNotices: () => [],
      admission: { facts: () => ({ openNetworks: [] }), failuresOf: () => undefined, why: () => undefined },
      clock: new VirtualClock(),
      hung: { all: () => [] },
      view: { findPod: () => Promise.resolve(known.inView === true ? pod : undefined) },
    },
  } as unknown as ConstructorParameters<typeof PodStories>[0]; // only what a story reads
  return { stories: new PodStories(needs), reads };
}

test("PodStories tells who knows the pod's UID, from the view or the journal, and nobody else", async () => {
  for (const known of [{ inView: true }, { inJournal: true }]) {
    const story = await stories(known).stories.of(pod);
    if (story === undefined || story === "busy") throw new Error("no story");
    expect(story.timeline.entries).toMatchObject([{ what: "asked", verb: "ADD" }]);
    expect(story.attachments).toHaveLength(known.inJournal === true ? 1 : 0);
  }
  for (const known of [{}, { inView: true, inJournal: true }]) {
    const { stories: refusing, reads } = stories(known);
    expect(await refusing.of({ ...pod, uid: known.inView === true ? "uid-2" : pod.uid })).toBeUndefined();
    // A stranger costs no reading of files.
    expect(reads).toEqual([]);
  }
});

test("PodStories reads for two at once, and the third comes back later", async () => {
  const { stories: one } = stories({ inView: true });
  const [first, second, third] = await Promise.all([one.of(pod), one.of(pod), one.of(pod)]);
  expect([typeof first, typeof second, third]).toEqual(["object", "object", "busy"]);
  expect(typeof (await one.of(pod))).toBe("object");
});

test("holdsAnswer names held pods that still exist, with no word of a plugin", () => {
  const failure = { cause: "network", reason: "secret words", network: "shop/lan" };
  const holds = [
    { pod: "uid-1", failures: 3, nextTryMs: 1_500.4, failure },
    { pod: "uid-9", failures: 1, nextTryMs: 1, failure },
  ];
  const open = { network: "shop/lan", sinceMs: 0, failures: 7, reason: "secret words", nextProbeMs: 0 };
  const answer = holdsAnswer({
    admission: { holds: () => holds, facts: () => ({ heldPods: 2, openNetworks: [open] }) },
    clock: new VirtualClock(),
    hung: { all: () => [] },
    view: { pods: () => [pod] },
  } as unknown as Parameters<typeof holdsAnswer>[0]); // only what it reads
  expect(answer).toMatchObject({
    pods: [{ namespace: "shop", pod: "web-0", failures: 3, nextTryMs: 1_500, cause: "network", network: "shop/lan" }],
    podsTotal: 2,
    networks: [{ network: "shop/lan", failures: 7 }],
  });
  expect(JSON.stringify(answer)).not.toContain("secret");
});
