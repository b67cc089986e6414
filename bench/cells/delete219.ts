import type { Bench } from "../bench.ts";
import { seconds, type Cell } from "../cell.ts";
import { floorCaller, floorLabel } from "../contenders/floor.ts";
import type { RunningNode } from "../contenders/contender.ts";
import { Bystanders, bystandersWithinMs } from "../storm/bystanders.ts";
import { leftBehind, onLevee, smallLimits } from "../storm/on-levee.ts";
import { otherPods, stormPods } from "../storm/pods.ts";
import { storm, type StormOutcome } from "../storm/storm.ts";

const floorShare = 1.5;
const cutMs = 180_000;

/** A drained node: every pod deleted at once, while pods of another namespace arrive. */
export async function delete219(bench: Bench): Promise<Cell> {
  const pods = bench.count(219);
  const floorMs = await floorDelete(bench, pods);
  bench.say(`${floorLabel}: ${seconds(floorMs)}`);
  return onLevee(bench, { limits: smallLimits }, async (node) => {
    const { tookMs, othersMs, left } = await leveeDelete(bench, node, pods);
    const worst = othersMs[0];
    const limitMs = floorShare * floorMs;
    return {
      name: "delete219",
      title: `${pods} pods deleted at once, 50Mi, ${otherPods.length} pods of another namespace arriving`,
      command: "npm run bench -- delete219",
      header: ["", "time", "the others wait", "left behind"],
      rows: [
        [floorLabel, seconds(floorMs), "–", "–"],
        ["Levee", seconds(tookMs), seconds(worst), left || "nothing"],
      ],
      verdicts: [
        {
          promise: `${pods} pods deleted at once within 1.5 × the delegates alone (${seconds(limitMs)})`,
          seen: `${seconds(tookMs)}, left behind: ${left || "nothing"}`,
          holds: tookMs !== undefined && tookMs <= limitMs && left === "",
        },
        {
          promise: `ADDs of another namespace meanwhile within ${bystandersWithinMs / 1000} s`,
          seen: `longest ${seconds(worst)}`,
          holds: worst !== undefined && worst <= bystandersWithinMs,
        },
      ],
      notes: [],
      plots: {},
      figures: { floorMs, tookMs, othersMs, left },
    };
  });
}

async function floorDelete(bench: Bench, pods: number): Promise<number> {
  await bench.ground.clear();
  const outcome = await storm(bench.ground, await floorCaller(bench.ground), {
    pods: stormPods(pods),
    late: [],
    cutMs,
  });
  const tookMs = await deleteAll(outcome);
  if (tookMs === undefined) throw new Error("The delegates fail to delete when run directly");
  return tookMs;
}

interface Seen {
  readonly tookMs: number | undefined;
  readonly othersMs: readonly (number | undefined)[];
  readonly left: string;
}

async function leveeDelete(bench: Bench, node: RunningNode, pods: number): Promise<Seen> {
  const outcome = await storm(bench.ground, node.caller, { pods: stormPods(pods), late: [], cutMs });
  const others = await Bystanders.make(bench.ground, node);
  const [tookMs] = await Promise.all([deleteAll(outcome), others.arrive()]);
  await others.leave();
  return { tookMs, othersMs: others.waitsMs, left: await leftBehind(bench) };
}

/** Time until the last pod is deleted; undefined if one delete failed. */
async function deleteAll({ fleet, records }: StormOutcome): Promise<number | undefined> {
  const startedMs = fleet.nowMs();
  await fleet.deleteAll(AbortSignal.timeout(cutMs));
  const last = Math.max(...records.map(({ deletedMs }) => deletedMs ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(last) ? last - startedMs : undefined;
}
