import { readStorms } from "../../../../state/recorder/read-storms.ts";
import { recorderFolder } from "../../../../state/recorder/recorder-segments.ts";
import { CommandFailure } from "../../../failure.ts";
import { clusterStorm, longestQueue, stormPodsMin } from "./cluster-storm.ts";
import type { StormReport } from "./storm-report.ts";

/** What a report without a cluster calls the machine. */
const node = "this node";

/** The largest storm in the flight recorder of this machine, with the plugins' own words: who reads its files is root. */
export async function ownStorm(stateDir: string, sinceMs: number): Promise<StormReport> {
  const folder = recorderFolder(stateDir);
  const own = await readStorms(folder, "all");
  const told = new Map([[node, own]]);
  const storm = clusterStorm(told, sinceMs);
  const decisions = { why: "no cluster was asked", status: undefined };
  if (storm !== undefined)
    return {
      ...{ storm, nodesTold: 1, isWhole: false, silent: [], now: [], decisions },
      cut: own.sinceMs >= storm.fromMs ? [node] : [],
    };
  const seen =
    own.sinceMs === 0
      ? `there is nothing in ${folder}`
      : `at most ${longestQueue(told, sinceMs)} pods waited in one go, fewer than ${stormPodsMin}`;
  throw new CommandFailure("no-storm", `Cannot find a storm in the flight recorder: ${seen}`, {
    remedy: "--state-dir of the daemon, on the node where pods waited; levee status shows which",
  });
}
