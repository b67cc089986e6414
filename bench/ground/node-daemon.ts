import { readFileSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { KeptDaemon } from "../../src/cli/storm/kept-daemon.ts";
import { programCaller } from "../../src/cli/storm/caller/program-caller.ts";
import { until } from "../../test/e2e/until.ts";
import type { RunningNode, StartOptions } from "../contenders/contender.ts";
import type { Ground } from "./ground.ts";
import { slowSyncs } from "./slow-syncs.ts";

export interface NodeDaemon {
  /** Also the name of its log. */
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly shim: string;
  /** The conf that it writes for the runtime; the shim gets it on stdin. */
  readonly conf: string;
  isUp(): Promise<boolean>;
}

/** Multus takes more than a minute at 100m of CPU. */
const upMsMax = 180_000;

/** Starts a daemon in its own cgroup and restarts it as the kubelet does. Its shims are in the runtime's cgroup. */
export async function startNode(ground: Ground, wanted: NodeDaemon, options: StartOptions): Promise<RunningNode> {
  const path = { PATH: process.env["PATH"] ?? "" };
  const group = await ground.group(options.limits);
  const log = `${ground.scratch}/${wanted.name}.log`;
  const daemon = new KeptDaemon({
    clock: systemClock,
    command: wanted.command,
    outside: slowSyncs(options.syncDelayMs),
    env: { ...path, ...wanted.env },
    group,
    log,
    ...(options.restartMs === undefined ? {} : { backOffMs: [options.restartMs] }),
  });
  await daemon.start();
  try {
    await until(`${wanted.name} is up`, async () => (await wanted.isUp()) || undefined, {
      everyMs: 50,
      timeoutMs: upMsMax,
    });
  } catch (thrown) {
    process.stderr.write(`${tailOf(log)}\n`);
    throw thrown;
  }
  const conf = readFileSync(wanted.conf, "utf8");
  const folder = ground.runFolder(`${wanted.name}-calls`);
  return {
    caller: await programCaller({
      clock: systemClock,
      program: wanted.shim,
      conf,
      cniPath: ground.bin,
      env: path,
      folder,
    }),
    group,
    daemon,
    log: () => tailOf(log),
    async stop() {
      const stopped = daemon.stop();
      group.killAll();
      await stopped;
      await group.remove();
    },
  };
}

function tailOf(log: string): string {
  return readFileSync(log, "utf8").slice(-4_000);
}
