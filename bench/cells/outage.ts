import { rmSync, writeFileSync } from "node:fs";
import type { Bench } from "../bench.ts";
import { seconds, type Cell } from "../cell.ts";
import { brokenFile, installOddPlugin } from "../ground/odd-plugins.ts";
import { onLevee, smallLimits } from "../storm/on-levee.ts";
import { stormPods, vitalPods } from "../storm/pods.ts";
import { attachedCount, attachTimes, stormOn } from "../storm/storm.ts";
import { timeLine } from "../time-line.ts";

const brokenMs = 60_000;
const withinMs = 20_000;
const vitalWithinMs = 6_000;
const cutMs = 150_000;

/** The primary network's plugin fails for a minute and then works, as during a restart of a network agent. */
export async function outage(bench: Bench): Promise<Cell> {
  const pods = bench.count(219);
  const lastsMs = bench.options.isQuick ? brokenMs / 4 : brokenMs;
  installOddPlugin(bench.ground, "flaky");
  bench.ground.writePrimary("flaky");
  writeFileSync(brokenFile, "");
  try {
    return await onLevee(bench, { limits: smallLimits }, async (node) => {
      let repair: NodeJS.Timeout | undefined;
      const onBegin = (): void => {
        repair = setTimeout(() => rmSync(brokenFile), lastsMs);
      };
      const outcome = await stormOn(bench.ground, node, { pods: stormPods(pods), late: vitalPods, cutMs, onBegin });
      clearTimeout(repair);
      const after = (times: readonly (number | undefined)[]): number =>
        Math.max(...times.map((ms) => ms ?? Number.POSITIVE_INFINITY)) - lastsMs;
      const allMs = after(outcome.records.map(({ attachedMs }) => attachedMs));
      const vitalMs = after(outcome.late.map(({ attachedMs }) => attachedMs));
      const failed = [...outcome.records, ...outcome.late].reduce((sum, { errors }) => sum + errors.length, 0);
      const title = `${pods} pods at once, 50Mi, the primary network's plugin fails for ${lastsMs / 1000} s`;
      return {
        name: "outage",
        title,
        command: "npm run bench -- outage",
        header: ["", "attached", "last after recovery", "critical ones after recovery", "failed ADDs"],
        rows: [["Levee", `${attachedCount(outcome.records)}`, told(allMs), told(vitalMs), `${failed}`]],
        verdicts: [
          {
            promise: `the primary's plugin fails for ${lastsMs / 1000} s: every pod attached within ${withinMs / 1000} s of its recovery`,
            seen: `${attachedCount(outcome.records)} of ${pods}, the last after ${told(allMs)}`,
            holds: allMs <= withinMs,
          },
          {
            promise: `critical ones within ${vitalWithinMs / 1000} s of its recovery`,
            seen: `the last after ${told(vitalMs)}`,
            holds: vitalMs <= vitalWithinMs,
          },
        ],
        notes: [],
        plots: { outage: timeLine({ title, pods, curves: [{ label: "Levee", attachedAtMs: attachTimes(outcome) }] }) },
        figures: { attachedAtMs: attachTimes(outcome), allMs, vitalMs, failed },
      };
    });
  } finally {
    rmSync(brokenFile, { force: true });
    bench.ground.writePrimary();
  }
}

function told(ms: number): string {
  return seconds(Number.isFinite(ms) ? ms : undefined);
}
