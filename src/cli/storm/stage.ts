import { readFile } from "node:fs/promises";
import { isUnreachable } from "../node/ask.ts";
import { ask, type Context } from "../context.ts";
import { Child } from "../demo/child.ts";
import { CommandFailure, interruptedFailure } from "../failure.ts";
import { withProgress } from "../terminal/progress.ts";
import { readConf } from "../node/shim-options.ts";
import { childEnv } from "../world.ts";
import { clearSite } from "./clear.ts";
import { KeptDaemon } from "./kept-daemon.ts";
import { LimitedGroup } from "./machine/limited-group.ts";
import { NetnsBatch } from "./netns-batch.ts";
import type { StormPlan } from "./plan.ts";
import { freshProgram, prepareSite, type StormNetworks } from "./prepare.ts";
import { programCaller } from "./caller/program-caller.ts";
import { site, sitePaths, sitePods, type SitePods } from "./site.ts";
import { stoppable, type StoppableCaller } from "./caller/stoppable-caller.ts";

/** What is running while a storm is. */
export interface Stage {
  readonly context: Context;
  readonly plan: StormPlan;
  readonly pods: SitePods;
  readonly netns: NetnsBatch;
  readonly networks: StormNetworks;
  readonly group: LimitedGroup;
  readonly daemon: KeptDaemon;
  readonly caller: StoppableCaller;
}

/** Prepares a storm, has `work` run it, and clears everything away, whatever happened. */
export async function withStage<T>(outer: Context, plan: StormPlan, work: (stage: Stage) => Promise<T>): Promise<T> {
  const { world } = outer;
  const paths = sitePaths(plan.workDir);
  const context: Context = {
    world,
    settings: {
      ...outer.settings,
      socketDir: site.runDir,
      stateDir: paths.journal,
      directory: paths.directory,
    },
  };
  const netns = new NetnsBatch(world.clock, childEnv(world), site.netnsPrefix);
  const running: Running = {};
  try {
    const stage = await withProgress(world, `Preparing ${plan.pods} pods`, () =>
      setStage(context, plan, { netns, running }),
    );
    return await work(stage);
  } finally {
    await withProgress(world, "Clearing away", () => strike(context, netns, running));
  }
}

/** Filled as it goes, so that whatever was started is also stopped. */
interface Running {
  daemon?: KeptDaemon;
  hand?: Child;
  caller?: StoppableCaller;
}

/** All pods are deleted, or it was interrupted and everything goes anyway. */
const daemonGraceMs = 3000;

async function strike(context: Context, netns: NetnsBatch, { caller, hand, daemon }: Running): Promise<void> {
  caller?.stop();
  await hand?.stop(context.world.clock);
  await daemon?.stop(daemonGraceMs);
  const { left } = await clearSite(context, netns);
  if (left.length > 0)
    throw new CommandFailure("leftovers", `Cannot remove all of what the storm made: ${left.join(", ")}`, {
      remedy: "levee storm clears it away when it is started again",
    });
}

interface Making {
  readonly netns: NetnsBatch;
  readonly running: Running;
}

async function setStage(context: Context, plan: StormPlan, { netns, running }: Making): Promise<Stage> {
  const { world, settings } = context;
  const { clock } = world;
  const pods = sitePods(plan);
  const paths = sitePaths(plan.workDir);
  const networks = await prepareSite(context, plan, { pods, netns });
  const command = await freshProgram(context, paths);
  const { limitBytes: memoryBytes, cpuMillis } = plan;
  const group = await LimitedGroup.make(clock, site.group, {
    memoryBytes,
    ...(cpuMillis === undefined ? {} : { cpuMillis }),
  });
  const daemon = new KeptDaemon({
    clock,
    command: [...command, "daemon", "--config", paths.config],
    // The way the daemon is run on a node.
    env: childEnv(world),
    group,
    log: paths.daemonLog,
  });
  running.daemon = daemon;
  await daemon.start();
  running.hand = await Child.start({
    name: "resident hand",
    command: [settings.shim, "--resident", "--socket-dir", site.runDir],
    env: childEnv(world, { CNI_PATH: settings.cniPath }),
    log: paths.handLog,
  });
  await untilReady(context, daemon, paths.daemonLog);
  const caller = stoppable(
    await programCaller({
      clock,
      program: settings.shim,
      conf: await readConf(undefined, settings),
      cniPath: settings.cniPath,
      env: childEnv(world),
      folder: site.calls,
    }),
  );
  running.caller = caller;
  return { context, plan, pods, netns, networks, group, daemon, caller };
}

/** In a small cgroup with little CPU it takes its time to read the folder. */
const readyTimeoutMs = 120_000;
const readyPollMs = 100;

async function untilReady(context: Context, daemon: KeptDaemon, log: string): Promise<void> {
  const { clock, interrupted } = context.world;
  const endMs = clock.monotonicMs() + readyTimeoutMs;
  for (;;) {
    const node = await ask(context, { ask: "node" }).catch((error: unknown) => {
      if (isUnreachable(error)) return undefined;
      throw error;
    });
    if (node !== undefined && node.residentHands.length > 0) return;
    if (daemon.ends.length > 1 || clock.monotonicMs() > endMs)
      throw new CommandFailure(
        "not-ready",
        daemon.ends.length > 1
          ? `Cannot start the storm: the daemon ends before it is ready, ${daemon.oomKills > 0 ? "killed for lack of memory" : `with ${daemon.ends.at(-1) ?? ""}`}`
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
