import { defectsInto } from "../story/defects-into.ts";
import { EventLog } from "../story/event-log.ts";
import type { Broken } from "../story/invariants.ts";
import type { StoryEnd } from "../story/run-story.ts";
import { simNodes } from "./cluster-objects.ts";
import { GuardRules } from "./guard-rules.ts";
import type { GuardStory } from "./guard-story.ts";
import { GuardWorld } from "./guard-world.ts";
import { act } from "./play-acts.ts";
import { beginGuardFault, calmGuards } from "./play-guard-faults.ts";
import { placeShop } from "./upkeep/owned-pods.ts";

/** When all is calm: long enough for a step's longest deadline after the last word. */
const settleMs = 1_500_000;
const looksMs = [60_000, 300_000, 900_000, settleMs];
/** Between two looks at what stands. */
const tickMs = 5_000;

/** Plays a story of guards and watches the rules. The same story gives the same end, byte for byte. */
export async function runGuardStory(
  story: GuardStory,
  policies: readonly object[],
  linesMax?: number,
): Promise<StoryEnd> {
  const log = new EventLog(linesMax);
  const found: { rules?: GuardRules } = {};
  const world = new GuardWorld({
    seed: story.seed,
    guards: story.guards,
    nodes: simNodes,
    policies,
    onEvent: (nowMs, event) => {
      log.add(nowMs, event);
      found.rules?.see(nowMs, event);
    },
    onWrite: (nowMs, write) => {
      const { user, operation, resource, key, subresource, isDryRun, isChange } = write;
      const what = `${operation}${isDryRun ? " dry" : ""}${isChange ? "" : " same"} ${resource} ${key} ${subresource}`;
      log.add(nowMs, { kind: "log", node: user.name, level: "write", text: what });
      found.rules?.written(nowMs, write);
    },
    onReboot: (nowMs, node) => found.rules?.rebooted(nowMs, node),
  });
  const rules = new GuardRules(world);
  found.rules = rules;
  using _defects = defectsInto(rules.broken);
  world.start();
  schedule(world, story, rules);
  await settle(world, story, rules);
  const { steps, nowMs: simulatedMs } = world.time;
  return { broken: rules.broken, hash: log.hash, lines: log.lines, steps, simulatedMs };
}

function schedule(world: GuardWorld, { acts, faults, calmAtMs }: GuardStory, rules: GuardRules): void {
  const { time } = world;
  // Only then, as everything that is there moves what a seed does.
  if (acts.some(({ kind }) => kind === "drain" || kind === "rollout")) placeShop(world);
  for (const one of acts) time.after(one.atMs, () => act(world, one));
  for (const fault of faults) time.after(fault.atMs, () => beginGuardFault(world, fault));
  time.after(calmAtMs, () => calmGuards(world));
  const tick = (): void => {
    rules.look(time.nowMs);
    time.after(tickMs, tick);
  };
  time.after(tickMs, tick);
}

async function settle(world: GuardWorld, { calmAtMs }: GuardStory, rules: GuardRules): Promise<void> {
  const isOver = (): boolean => rules.broken.length > 0;
  for (const lookMs of looksMs) {
    await world.time.run(calmAtMs + lookMs, isOver);
    if (isOver()) return;
    const atEnd: readonly Broken[] = rules.atEnd(world.time.nowMs);
    if (atEnd.length === 0) return;
    if (lookMs === settleMs) rules.broken.push(...atEnd);
  }
}
