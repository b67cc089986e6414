import { readFile } from "node:fs/promises";
import { isUnreachable } from "../node/ask.ts";
import { askDaemon, type Context } from "../context.ts";
import { Child } from "../demo/child.ts";
import { CommandFailure, interruptedFailure } from "../failure.ts";
import { withProgress } from "../terminal/progress.ts";
import { readConf } from "../node/shim-options.ts";
import { childEnv } from "../shell.ts";
import { clearSite } from "./clear.ts";
import { KeptDaemon } from "./kept-daemon.ts";
import { LimitedGroup } from "./machine/limited-group.ts";
import { NetnsBatch } from "./netns-batch.ts";
import type { StormPlan } from "./plan.ts";
import { freshProgram, prepareStorm, type StormNetworks } from "./prepare.ts";
import { programCaller } from "./caller/program-caller.ts";
import { site, stormPaths, stormPods, type StormPods } from "./site.ts";
import { stoppable, type StoppableCaller } from "./caller/stoppable-caller.ts";

/** What runs during a storm. */
export interface Stage {
  readonly context: Context;
  readonly plan: StormPlan;
  readonly pods: StormPods;
  readonly netns: NetnsBatch;
  readonly networks: StormNetworks;
  readonly group: LimitedGroup;
  readonly daemon: KeptDaemon;
  readonly caller: StoppableCaller;
}

/** Prepares a storm, runs `work`, and always cleans up. */
export async function withStage<T>(outer: Context, plan: StormPlan, work: (stage: Stage) => Promise<T>): Promise<T> {
  const { shell } = outer;
  const context = stageContext(outer, plan);
  const netns = new NetnsBatch(shell.clock, childEnv(shell), site.netnsPrefix);
  const running: Running = {};
  try {
    const stage = await withProgress(shell, `Preparing ${plan.pods} pods`, () =>
      setStage(context, plan, { netns, running }),
    );
    return await work(stage);
  } finally {
    await withProgress(shell, "Clearing away", () => strike(context, netns, running));
  }
}

/** The context of commands to the storm's own daemon. */
export function stageContext({ shell, settings }: Context, plan: StormPlan): Context {
  const { journal, directory } = stormPaths(plan.workDir);
  return { shell, settings: { ...settings, socketDir: site.runDir, stateDir: journal, directory } };
}

/** Filled during the start, so that everything that was started is also stopped. */
interface Running {
  daemon?: KeptDaemon;
  hand?: Child;
  caller?: StoppableCaller;
}

/** Short, because by then all pods are deleted, or the storm was interrupted. */
const daemonGraceMs = 3000;

async function strike(context: Context, netns: NetnsBatch, { caller, hand, daemon }: Running): Promise<void> {
  caller?.stop();
  await hand?.stop(context.shell.clock);
  await daemon?.stop(daemonGraceMs);
  const { left } = await clearSite(context, netns);
  if (left.length > 0)
    throw new CommandFailure("leftovers", `Cannot remove everything that the storm made: ${left.join(", ")}`, {
      remedy: "run levee storm again, which removes it first",
    });
}

interface Making {
  readonly netns: NetnsBatch;
  readonly running: Running;
}

async function setStage(context: Context, plan: StormPlan, { netns, running }: Making): Promise<Stage> {
  const { shell, settings } = context;
  const { clock } = shell;
  const pods = stormPods(plan);
  const paths = stormPaths(plan.workDir);
  const networks = await prepareStorm(context, plan, { pods, netns });
  const command = await freshProgram(context, paths);
  const { limitBytes: memoryBytes, cpuMillis } = plan;
  const group = await LimitedGroup.make(clock, site.group, {
    memoryBytes,
    ...(cpuMillis === undefined ? {} : { cpuMillis }),
  });
  const daemon = new KeptDaemon({
    clock,
    command: [...command, "daemon", "--config", paths.config],
    env: childEnv(shell),
    group,
    log: paths.daemonLog,
  });
  running.daemon = daemon;
  await daemon.start();
  running.hand = await Child.start({
    name: "resident hand",
    command: [settings.shim, "--resident", "--socket-dir", site.runDir],
    env: childEnv(shell, { CNI_PATH: settings.cniPath }),
    log: paths.handLog,
  });
  await untilReady(context, daemon, paths.daemonLog);
  const caller = stoppable(
    await programCaller({
      clock,
      program: settings.shim,
      conf: await readConf(undefined, settings),
      cniPath: settings.cniPath,
      env: childEnv(shell),
      folder: site.calls,
    }),
  );
  running.caller = caller;
  return { context, plan, pods, netns, networks, group, daemon, caller };
}

/** In a small cgroup with little CPU the daemon needs long to read the folder. */
const readyTimeoutMs = 120_000;
const readyPollMs = 100;

async function untilReady(context: Context, daemon: KeptDaemon, log: string): Promise<void> {
  const { clock, interrupted } = context.shell;
  const endMs = clock.monotonicMs() + readyTimeoutMs;
  for (;;) {
    const node = await askDaemon(context, { ask: "node" }).catch((error: unknown) => {
      if (isUnreachable(error)) return undefined;
      throw error;
    });
    if (node !== undefined && node.residentHands.length > 0) return;
    if (daemon.ends.length > 1 || clock.monotonicMs() > endMs)
      throw new CommandFailure(
        "not-ready",
        daemon.ends.length > 1
          ? `Cannot start the storm: the daemon ends before it is ready, ${daemon.oomKills > 0 ? "killed for memory" : `with ${daemon.ends.at(-1) ?? ""}`}`
          : `Cannot start the storm: the daemon was not ready within ${readyTimeoutMs / 1000} s`,
        { details: await lastWords(log), remedy: "a larger --limit or --cpu" },
      );
    await clock.sleep(readyPollMs, interrupted).catch(() => {
      throw interruptedFailure("waiting for the daemon");
    });
  }
}

const logLinesShown = 12;

async function lastWords(log: string): Promise<string> {
  const text = await readFile(log, "utf8").catch(() => "");
  return text.trim().split("\n").slice(-logLinesShown).join("\n");
}
