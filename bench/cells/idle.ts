import { memoryOf } from "../../src/cli/demo/memory.ts";
import { pause } from "../../test/e2e/until.ts";
import type { Bench } from "../bench.ts";
import { type Cell } from "../cell.ts";
import type { Contender } from "../contenders/contender.ts";
import { confOf, secondary } from "../ground/networks.ts";
import { stormPods } from "../storm/pods.ts";

const pods = 250;
const networks = 50;
/** Mostly pages of the program's file, of which the kernel maps more or fewer (docs/measurements.md, 0025). */
const rssMib = 32;
/** Pages that the daemon shares with no other process and that the kernel cannot drop. */
const anonMib = 14;
/** By then the daemon has read its lists and collected garbage. */
const settleMs = 20_000;

/** A daemon with nothing to do, on a node that knows many pods and networks. */
export async function idle(bench: Bench): Promise<Cell> {
  const { source, leases } = bench.ground;
  await source.addPods(stormPods(pods));
  for (let at = 0; at < networks; at += 1)
    await source.addNetwork(`idle${at}`, { ...confOf(secondary, leases), name: `idle${at}` });
  const seen = [await memory(bench, bench.levee)];
  for (const peer of bench.peers.slice(0, 2)) if (!("missing" in peer)) seen.push(await memory(bench, peer));
  const [levee] = seen;
  if (levee === undefined) throw new Error("Levee was not measured");
  return {
    name: "idle",
    title: `Idle daemon, ${pods} pods and ${networks} networks known`,
    command: "npm run bench -- idle",
    header: ["", "RSS MiB", "anonymous MiB"],
    rows: seen.map(({ label, rss, anon }) => [label, rss.toFixed(1), anon.toFixed(1)]),
    verdicts: [
      {
        promise: `idle daemon with ${pods} pods and ${networks} networks: at most ${rssMib} MiB RSS, of which at most ${anonMib} anonymous`,
        seen: `${levee.rss.toFixed(1)} MiB, ${levee.anon.toFixed(1)} anonymous`,
        holds: levee.rss <= rssMib && levee.anon <= anonMib,
      },
    ],
    notes: [],
    plots: {},
    figures: seen,
  };
}

async function memory(bench: Bench, contender: Contender): Promise<{ label: string; rss: number; anon: number }> {
  await bench.ground.clear();
  const node = await contender.start({ limits: {} });
  try {
    await pause(settleMs);
    const seen = await memoryOf(node.daemon.pid ?? 0);
    if (seen === undefined) throw new Error(`${contender.label} has ended: ${node.log()}`);
    return { label: contender.label, rss: seen.rssKib / 1024, anon: seen.anonymousKib / 1024 };
  } finally {
    await node.stop();
  }
}
