import type { AcceptedWrite } from "../guard/api-server.ts";
import { GuardRules } from "../guard/guard-rules.ts";
import { GuardWorld } from "../guard/guard-world.ts";
import { act } from "../guard/play-acts.ts";
import { beginGuardFault } from "../guard/play-guard-faults.ts";
import { defectsInto } from "../story/defects-into.ts";
import { EventLog } from "../story/event-log.ts";
import type { Broken } from "../story/invariants.ts";
import { judgeReboots } from "./judge-reboots.ts";
import type { RebootEnd, RebootMoment } from "./reboot-end.ts";
import type { RebootPlan } from "./reboot-plan.ts";
import { RebootBook } from "./reboot-book.ts";

interface RebootViewer {
  /** Gets every moment. */
  readonly onMoment?: (moment: RebootMoment) => void;
  /** Asked after everything that happens: whether to end now with what is known. */
  readonly isInterrupted?: () => boolean;
}

/** A guard leads, and has heard of every daemon. */
const quietMs = 60_000;
/** Between two looks of the rules at what stands. */
const tickMs = 5_000;
/** After the last reboot, until its gate is gone and a guard leads again. */
const settleMs = 300_000;
const settleLookMs = 10_000;

interface Run {
  readonly plan: RebootPlan;
  readonly world: GuardWorld;
  readonly rules: GuardRules;
  readonly book: RebootBook;
  readonly isInterrupted: () => boolean;
}

/** Plays a fleet whose nodes need a reboot. The same plan gives the same end, byte for byte. */
export async function runReboots(plan: RebootPlan, viewer: RebootViewer = {}): Promise<RebootEnd> {
  const log = new EventLog();
  const seen: { run?: Run } = {};
  const world = new GuardWorld({
    ...worldOf(plan),
    onEvent: (nowMs, event) => {
      log.add(nowMs, event);
      seen.run?.rules.see(nowMs, event);
    },
    onWrite: (nowMs, write) => {
      log.add(nowMs, { kind: "log", node: write.user.name, level: "write", text: lineOf(write) });
      seen.run?.rules.written(nowMs, write);
      seen.run?.book.written(write);
    },
    onReboot: (nowMs, node) => {
      seen.run?.rules.rebooted(nowMs, node);
      seen.run?.book.rebooted(node);
    },
  });
  const rules = new GuardRules(world);
  const book = new RebootBook(plan, world, quietMs);
  const isInterrupted = viewer.isInterrupted ?? (() => false);
  const run: Run = { plan, world, rules, book, isInterrupted };
  seen.run = run;
  using _defects = defectsInto(rules.broken);
  world.start();
  await world.time.run(quietMs, isInterrupted);
  schedule(run);
  book.begin(viewer.onMoment);
  await play(run);
  const facts = book.facts();
  const broken = isInterrupted() ? rules.broken : [...rules.broken, ...(await settled(run))];
  const { steps, nowMs } = world.time;
  const simulatedMs = Math.max(0, nowMs - quietMs);
  return judgeReboots({ ...facts, plan, isInterrupted: isInterrupted(), steps, simulatedMs, hash: log.hash }, broken);
}

function worldOf({ seed, guards, nodes, settings, startWallMs }: RebootPlan) {
  // Policies count for what people say, and nobody says a word here.
  return { seed, guards, nodes, policies: [], reboots: settings, wallStartMs: startWallMs - quietMs };
}

function lineOf({ operation, resource, key, subresource, isDryRun, isChange }: AcceptedWrite): string {
  return `${operation}${isDryRun ? " dry" : ""}${isChange ? "" : " same"} ${resource} ${key} ${subresource}`;
}

function schedule({ plan, world, rules }: Run): void {
  const { time } = world;
  for (const { node, atMs } of plan.due) time.after(atMs, () => act(world, { kind: "reboot-due", atMs, node }));
  for (const one of plan.acts) time.after(one.atMs, () => act(world, one));
  for (const fault of plan.faults) time.after(fault.atMs, () => beginGuardFault(world, fault));
  const tick = (): void => {
    rules.look(time.nowMs);
    time.after(tickMs, tick);
  };
  time.after(tickMs, tick);
}

/** Until every node is back and every fault is over, or the time of the last node is up. */
async function play({ plan, world, book, isInterrupted }: Run): Promise<void> {
  const { time } = world;
  const calmMs = [...plan.acts, ...plan.faults]
    .map((one) => one.atMs + ("forMs" in one ? one.forMs : 0))
    .reduce((one, other) => Math.max(one, other), 0);
  const lastMs = Math.max(calmMs, ...plan.due.map(({ atMs }) => atMs + plan.withinMs));
  const isOver = (): boolean => book.isDone && time.nowMs >= quietMs + calmMs;
  await time.run(quietMs + lastMs, () => isInterrupted() || isOver());
}

/** What is still wrong when the gates had time to go. */
async function settled({ world, rules, isInterrupted }: Run): Promise<readonly Broken[]> {
  const { time } = world;
  const endMs = time.nowMs + settleMs;
  for (;;) {
    const problems = rules.atEnd(time.nowMs);
    if (problems.length === 0 || time.nowMs >= endMs || isInterrupted()) return problems;
    await time.run(time.nowMs + settleLookMs, isInterrupted);
  }
}
