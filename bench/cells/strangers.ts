import { randomBytes } from "node:crypto";
import type { CallResult, StormSandbox } from "../../src/cli/storm/caller/caller.ts";
import { netnsNameOf, type FleetPod } from "../../src/cli/storm/fleet.ts";
import type { Bench } from "../bench.ts";
import { seconds, type Cell } from "../cell.ts";
import type { RunningNode } from "../contenders/contender.ts";
import { installOddPlugin } from "../ground/odd-plugins.ts";
import { networkNamespace, type PodWish } from "../ground/node-source.ts";
import { leftBehind, onLevee, smallLimits } from "../storm/on-levee.ts";
import { Bystanders, bystandersWithinMs } from "../storm/bystanders.ts";
import { stormPods } from "../storm/pods.ts";

const withinMs = 3_000;
/** A network counts as failing after three failures in a row, so every third pod succeeds. */
const failuresInARow = 2;

/** Deletes with little or nothing to undo: of sandboxes that were never added, or whose ADD failed half-way. */
export async function strangers(bench: Bench): Promise<Cell> {
  const count = bench.count(219);
  installOddPlugin(bench.ground, "fails");
  await bench.ground.source.addNetwork("fails", { cniVersion: "1.0.0", name: "fails", type: "fails" });
  return onLevee(bench, { limits: smallLimits }, async (node) => {
    const failed = await failHalfWay(bench, node, count);
    const never = (await bench.ground.source.addPods(stormPods(count))).map((pod) => sandboxOf(bench, pod));
    const others = await Bystanders.make(bench.ground, node);
    const startedMs = performance.now();
    const deleted = Promise.all([...never, ...failed].map((sandbox) => node.caller.call("DEL", sandbox)));
    const tookMs = deleted.then(() => performance.now() - startedMs);
    await Promise.all([deleted, others.arrive()]);
    await others.leave();
    const left = await leftBehind(bench);
    return cellOf({
      count,
      halfWay: failed.length,
      ends: await deleted,
      tookMs: await tookMs,
      worst: others.waitsMs[0],
      left,
    });
  });
}

interface Seen {
  readonly count: number;
  readonly halfWay: number;
  readonly ends: readonly CallResult[];
  readonly tookMs: number;
  readonly worst: number | undefined;
  readonly left: string;
}

function cellOf({ count, halfWay, ends, tookMs, worst, left }: Seen): Cell {
  const bad = ends.filter(({ isOk }) => !isOk);
  return {
    name: "strangers",
    title: `${count} deletes of sandboxes never added and ${halfWay} of such that failed half-way, all at once, 50Mi`,
    command: "npm run bench -- strangers",
    header: ["", "deletes", "failed", "time", "the others wait", "left behind"],
    rows: [["Levee", `${ends.length}`, `${bad.length}`, seconds(tookMs), seconds(worst), left || "nothing"]],
    verdicts: [
      {
        promise: `${count} + ${halfWay} such deletes all succeed within ${withinMs / 1000} s, nothing leaked`,
        seen: `${ends.length - bad.length} of ${ends.length} in ${seconds(tookMs)}, left behind: ${left || "nothing"}`,
        holds: bad.length === 0 && tookMs <= withinMs && left === "",
      },
      {
        promise: `ADDs meanwhile within ${bystandersWithinMs / 1000} s`,
        seen: `longest ${seconds(worst)}`,
        holds: worst !== undefined && worst <= bystandersWithinMs,
      },
    ],
    notes: bad.slice(0, 1).map(({ message }) => `A delete failed: ${message}`),
    plots: {},
    figures: { tookMs, othersMs: worst, failed: bad.length, left },
  };
}

/** Sandboxes whose second network failed, so that the first was undone. */
async function failHalfWay(bench: Bench, node: RunningNode, count: number): Promise<readonly StormSandbox[]> {
  const wish = (name: string): PodWish => ({
    namespace: "storm",
    name,
    annotations: { "k8s.v1.cni.cncf.io/networks": `${networkNamespace}/fails` },
  });
  const pods = await bench.ground.source.addPods(Array.from({ length: count }, (_, index) => wish(`half${index}`)));
  const [served] = await bench.ground.source.addPods([wish("ok")]);
  if (served === undefined) throw new Error("The pod that works was not made");
  await bench.ground.netns.add([...pods, served].map(netnsNameOf));
  const sandboxes = pods.map((pod) => sandboxOf(bench, pod));
  for (let at = 0; at < sandboxes.length; at += failuresInARow) {
    const some = sandboxes.slice(at, at + failuresInARow);
    const ends = await Promise.all(some.map((sandbox) => node.caller.call("ADD", sandbox)));
    const odd = ends.find(({ message }) => !message.includes("planned failure"));
    if (odd !== undefined) throw new Error(`An ADD that was to fail half-way ended otherwise: ${odd.message}`);
    const works = sandboxOf(bench, served);
    const end = await node.caller.call("ADD", works);
    if (!end.isOk) throw new Error(`The ADD between two failures failed: ${end.message}`);
    await node.caller.call("DEL", works);
  }
  return sandboxes;
}

function sandboxOf(bench: Bench, pod: FleetPod): StormSandbox {
  return { ...pod, containerId: randomBytes(32).toString("hex"), netnsPath: bench.ground.netns.path(netnsNameOf(pod)) };
}
