import { useDisk } from "../../base/disk/disk.ts";
import { defectsInto } from "./defects-into.ts";
import { EventLog } from "./event-log.ts";
import { Invariants, type Broken } from "./invariants.ts";
import { beginFault, calm } from "./play-faults.ts";
import { SimWorld } from "./sim-world.ts";
import { hardwareOfStory } from "./story-hardware.ts";
import { defaultNetwork, storyNetworks, type Story, type StoryPod } from "./story.ts";

/** How a run ended. */
export interface StoryEnd {
  /** Empty when every rule held. */
  readonly broken: readonly Broken[];
  readonly hash: string;
  /** The last lines of the log. */
  readonly lines: readonly string[];
  readonly steps: number;
  readonly simulatedMs: number;
}

/** The only node of a story. */
const nodeName = "node-1";
/**
 * When all is calm, this is enough for the longest pause before a restart, the kubelet's tries, and the leak ledger's
 * next round.
 */
const settleMs = 1_800_000;
/** A look at the end before that: most stories are settled by then. */
const looksMs = [120_000, 420_000, 900_000, settleMs];

/** Plays a story and watches the rules. The same story gives the same end, byte for byte. */
export async function runStory(story: Story, linesMax?: number): Promise<StoryEnd> {
  const log = new EventLog(linesMax);
  const rules: { invariants?: Invariants } = {};
  const world = new SimWorld({
    seed: story.seed,
    nodes: [nodeName],
    networks: storyNetworks,
    defaultNetwork,
    ...hardwareOfStory(story.machine),
    onEvent: (nowMs, event) => {
      log.add(nowMs, event);
      rules.invariants?.see(nowMs, event);
    },
  });
  const { api } = world;
  const invariants = new Invariants(world.nodes, { api, hasHardware: story.machine !== undefined });
  rules.invariants = invariants;
  using _defects = defectsInto(invariants.broken);
  using _disk = { [Symbol.dispose]: useDisk(world.disk) };
  schedule(world, story);
  world.start();
  await settle(world, story, invariants);
  const { steps, nowMs: simulatedMs } = world.time;
  return { broken: invariants.broken, hash: log.hash, lines: log.lines, steps, simulatedMs };
}

function schedule(world: SimWorld, { pods, faults, calmAtMs }: Story): void {
  const runtime = world.nodes.get(nodeName)?.runtime;
  pods.forEach((pod, number) => {
    world.time.after(pod.atMs, () => runtime?.bind(simPod(pod, number)));
    if (pod.deleteAtMs !== undefined)
      world.time.after(pod.deleteAtMs, () => runtime?.remove(`${pod.namespace}/${pod.name}`));
  });
  for (const fault of faults) world.time.after(fault.atMs, () => beginFault(world, nodeName, fault));
  world.time.after(calmAtMs, () => calm(world));
}

/** Runs until a rule is broken, or until all has settled. */
async function settle(world: SimWorld, { calmAtMs }: Story, invariants: Invariants): Promise<void> {
  const isOver = (): boolean => invariants.broken.length > 0;
  for (const lookMs of looksMs) {
    await world.time.run(calmAtMs + lookMs, isOver);
    if (isOver()) return;
    const atEnd = new Invariants(world.nodes, { api: world.api, hasForgotten: invariants.hasForgotten });
    atEnd.lookAtEnd();
    if (atEnd.broken.length === 0) return;
    if (lookMs === settleMs) invariants.broken.push(...atEnd.broken);
  }
}

function simPod({ name, namespace, isCritical, networks }: StoryPod, number: number) {
  const uid = `00000000-0000-4000-9000-${String(number).padStart(12, "0")}`;
  return { name, namespace, uid, isCritical, networks };
}
