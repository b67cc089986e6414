import type { NodeAnswer } from "../../src/wire/node-view.ts";
import { ask } from "../../test/lab/ask.ts";
import { pause } from "../../test/e2e/until.ts";
import type { Bench } from "../bench.ts";
import type { RunningNode, StartOptions } from "../contenders/contender.ts";
import type { Ground } from "../ground/ground.ts";
import { leaseCount, portCount } from "../ground/networks.ts";
import { mib } from "./meter.ts";

/** The limits of Multus' manifest, without the CPU limit. */
export const smallLimits = { memoryBytes: 50 * mib };
/** The daemon retries a failed undo after 5 s. */
const patienceMs = 15_000;
const lookMs = 250;

/** Runs `work` on a new node with Levee, and always stops the node. */
export async function onLevee<T>(
  bench: Bench,
  options: StartOptions,
  work: (node: RunningNode) => Promise<T>,
): Promise<T> {
  await bench.ground.clear();
  const node = await bench.levee.start(options);
  try {
    return await work(node);
  } catch (thrown) {
    bench.say(`the daemon's last words:\n${node.log()}`);
    throw thrown;
  } finally {
    await node.stop();
  }
}

/** After every pod has been deleted: addresses, interfaces and records that are still there. Empty when there are none. */
export async function leftBehind({ ground, levee }: Pick<Bench, "ground" | "levee">): Promise<string> {
  const endsMs = performance.now() + patienceMs;
  for (;;) {
    const left = await look(ground, levee.socketDir);
    if (left === "" || performance.now() > endsMs) return left;
    await pause(lookMs);
  }
}

async function look(ground: Ground, socketDir: string): Promise<string> {
  const { attachments, leaks, quarantined } = await ask<NodeAnswer>(socketDir, { ask: "node" });
  const counts = {
    addresses: leaseCount(ground.leases),
    interfaces: portCount(),
    attachments,
    leaks,
    quarantined,
  };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
}
