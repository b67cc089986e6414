import { beforeEach, expect, test } from "bun:test";
import { networksAnnotation } from "../../base/annotations.ts";
import type { NetworkName } from "../../base/brand.ts";
import { silentLogger } from "../../base/log.ts";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { parseDaemonConfig } from "../../config/daemon-config.ts";
import { aChain, aRecord, bootId } from "../../state/journal/record.fixture.ts";
import type { PodChange, PodFacts } from "../../view/pod-facts.ts";
import { emptyView, type View } from "../../view/view.ts";
import { KeptTimeline } from "../record/timeline.fixture.ts";
import { Turns } from "../serve/turns.ts";
import { PlugLook, type PlugLookNeeds } from "./plug-look.ts";
import { PlugWatch } from "./plug-watch.ts";

const graceMs = 60_000;
const record = aRecord(1, {
  phase: "acknowledged",
  chains: [aChain({ isDefault: true, network: "primary" as NetworkName }), aChain()],
});
const attached: PodFacts = {
  ...record.pod,
  annotations: { [networksAnnotation]: "lan" },
  priority: undefined,
  isStatic: false,
  phase: "Running",
};
const bare: PodFacts = { ...attached, annotations: {} };

let clock: VirtualClock;
let timeline: KeptTimeline;
let pod: PodFacts;
/** When a detachment asked for its place in the line. */
let asked: number[];
let tell: (change: PodChange) => void;

beforeEach(() => {
  clock = new VirtualClock();
  timeline = new KeptTimeline();
  [pod, asked] = [attached, []];
  const journal = { findByToken: () => record, forPod: () => [record], all: () => [] };
  const view: View = {
    ...emptyView,
    findPod: () => Promise.resolve(pod),
    onPodChange: (listener) => {
      tell = listener;
      return () => undefined;
    },
  };
  const hand = { isLost: false, stat: () => Promise.resolve([{ ...record.netns.identity, isNetns: true }]) };
  const parts = {
    clock,
    config: parseDaemonConfig(JSON.stringify({ gcGraceMs: graceMs }), "x"),
    logger: silentLogger,
    bootId,
    journal,
    timeline,
    view,
    turns: new Turns(),
    residents: { hand: () => hand, onJoined: () => undefined },
    eventTeller: { aboutPod: () => undefined },
    admission: {
      failuresOf: () => undefined,
      admit: () => {
        asked.push(clock.monotonicMs());
        return new Promise(() => undefined);
      },
    },
  };
  const needs = parts as unknown as PlugLookNeeds; // only what a look asks before a change begins
  const watch = { ...needs, residents: { onJoined: () => undefined }, heldMs: () => 0, tell: () => undefined };
  new PlugWatch({ ...watch, load: () => Promise.resolve(new PlugLook(needs)) }).start();
});

async function becomes(now: PodFacts): Promise<void> {
  const before = pod;
  pod = now;
  tell({ before, now });
  await clock.advance(0);
}

test("a missing annotation detaches when it has been missing for the grace, however many events come meanwhile", async () => {
  await becomes(bare);
  for (const phase of ["Unknown", "Running"]) {
    await clock.advance(20_000);
    await becomes({ ...bare, phase });
  }
  await clock.advance(19_999);
  expect(asked).toEqual([]);
  await clock.advance(1);
  expect(asked).toEqual([graceMs]);
  expect(timeline.notes.map(({ entry }) => entry.what)).toEqual(["waiting", "asked"]);
});

test("an annotation that came back and goes again is missing from then on", async () => {
  await becomes(bare);
  await clock.advance(40_000);
  await becomes(attached);
  await clock.advance(10_000);
  await becomes(bare);
  await clock.advance(graceMs - 1);
  expect(asked).toEqual([]);
  await clock.advance(1);
  expect(asked).toEqual([50_000 + graceMs]);
});
