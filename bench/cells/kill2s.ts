import type { Bench } from "../bench.ts";
import { seconds, type Cell } from "../cell.ts";
import { leftBehind, onLevee, smallLimits } from "../storm/on-levee.ts";
import { stormPods } from "../storm/pods.ts";
import { attachedCount, attachTimes, stormOn } from "../storm/storm.ts";
import { timeLine } from "../time-line.ts";

const killEveryMs = 2_000;
const cutMs = 240_000;

/** The storm while the daemon is killed again and again: the next daemon continues the work. */
export async function kill2s(bench: Bench): Promise<Cell> {
  const pods = bench.count(219);
  return onLevee(bench, { limits: smallLimits, restartMs: 0 }, async (node) => {
    const killing = setInterval(() => node.group.killAll(), killEveryMs);
    const outcome = await stormOn(bench.ground, node, { pods: stormPods(pods), late: [], cutMs });
    clearInterval(killing);
    const failed = outcome.records.reduce((sum, { errors }) => sum + errors.length, 0);
    const attached = attachedCount(outcome.records);
    await outcome.settled;
    await outcome.fleet.deleteAll(AbortSignal.timeout(60_000));
    const left = await leftBehind(bench);
    const title = `${pods} pods at once, 50Mi, the daemon killed every 2 s`;
    const errors = [...new Set(outcome.records.flatMap((record) => record.errors.map(({ message }) => message)))];
    return {
      name: "kill2s",
      title,
      command: "npm run bench -- kill2s",
      header: ["", "attached", "time", "kills", "failed ADDs", "left behind"],
      rows: [
        ["Levee", `${attached}`, seconds(outcome.tookMs), `${node.daemon.restarts}`, `${failed}`, left || "nothing"],
      ],
      verdicts: [
        {
          promise: `${pods} pods while the daemon is killed every 2 s: all attached, no ADD failed, nothing leaked`,
          seen: `${attached} in ${seconds(outcome.tookMs)} over ${node.daemon.restarts} kills, ${failed} failed, left behind: ${left || "nothing"}`,
          holds: attached === pods && failed === 0 && left === "",
        },
      ],
      notes: errors.slice(0, 3).map((message) => `An ADD failed: ${message}`),
      plots: { kill2s: timeLine({ title, pods, curves: [{ label: "Levee", attachedAtMs: attachTimes(outcome) }] }) },
      figures: { attachedAtMs: attachTimes(outcome), kills: node.daemon.restarts, failed, left },
    };
  });
}
