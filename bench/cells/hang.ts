import type { PodProgress } from "../../src/cli/storm/fleet.ts";
import type { Bench } from "../bench.ts";
import { round, seconds, type Cell } from "../cell.ts";
import { networkNamespace } from "../ground/node-source.ts";
import { installOddPlugin } from "../ground/odd-plugins.ts";
import { leftBehind, onLevee, smallLimits } from "../storm/on-levee.ts";
import { stormPods } from "../storm/pods.ts";
import { attachedCount, stormOn, type StormOutcome } from "../storm/storm.ts";

const floorShare = 2;
/** Differs from the plugin's name, so that an error with only the network's name does not count as one with both. */
const network = "stuck";
const plugin = "hangs";
/** The time of a whole call, so that each pod that hangs has failed once. */
const cutMs = 115_000;

/** Half of the pods ask for a network whose plugin never ends. */
export async function hang(bench: Bench): Promise<Cell> {
  const pods = bench.count(219);
  const healthy = Math.floor(pods / 2);
  const floor = await bench.floor(healthy);
  installOddPlugin(bench.ground, plugin);
  await bench.ground.source.addNetwork(network, { cniVersion: "1.0.0", name: network, type: plugin });
  return onLevee(bench, { limits: smallLimits }, async (node) => {
    const outcome = await stormOn(bench.ground, node, { pods: mixed(pods), late: [], cutMs });
    bench.say("waiting for the last calls to end");
    await outcome.settled;
    await outcome.fleet.deleteAll(AbortSignal.timeout(cutMs));
    const left = await leftBehind(bench);
    return cellOf({ pods, outcome, floorMs: floor.tookMs, left });
  });
}

/** Alternately one that works and one that hangs. */
function mixed(pods: number) {
  return stormPods(pods).map((pod, index) =>
    index % 2 === 1
      ? pod
      : {
          ...pod,
          name: `hang${index}`,
          annotations: { "k8s.v1.cni.cncf.io/networks": `${networkNamespace}/${network}` },
        },
  );
}

interface Seen {
  readonly pods: number;
  readonly outcome: StormOutcome;
  readonly floorMs: number;
  readonly left: string;
}

function namesBoth(message: string): boolean {
  return (
    message.includes(`${networkNamespace}/${network}`) &&
    new RegExp(`\\b${plugin} (was|has)\\b|\\bits hung plugin ${plugin}\\b`, "u").test(message)
  );
}

function cellOf({ pods, outcome, floorMs, left }: Seen): Cell {
  const isHung = ({ pod }: PodProgress): boolean => pod.name.startsWith("hang");
  const hung = outcome.records.filter(isHung);
  const healthy = outcome.records.filter((record) => !isHung(record));
  const tookMs = Math.max(...healthy.map(({ attachedMs }) => attachedMs ?? Number.POSITIVE_INFINITY));
  const messages = hung.flatMap(({ errors }) => errors.map(({ message }) => message));
  const named = messages.filter(namesBoth);
  const unfailed = hung.filter(({ errors }) => errors.length === 0).length;
  const attempts = hung.reduce((sum, record) => sum + record.attempts, 0);
  const limitMs = floorShare * floorMs;
  const unclear = messages.filter((message) => !namesBoth(message));
  return {
    name: "hang",
    title: `${pods} pods at once, 50Mi, half of them on a network whose plugin hangs for ever`,
    command: "npm run bench -- hang",
    header: ["", "pods", "attached", "time", "failures", "naming the plugin", "tries each", "left behind"],
    rows: [
      [
        "the others",
        `${healthy.length}`,
        `${attachedCount(healthy)}`,
        seconds(Number.isFinite(tookMs) ? tookMs : undefined),
        "–",
        "–",
        "–",
        "–",
      ],
      [
        "those that hang",
        `${hung.length}`,
        `${attachedCount(hung)}`,
        "–",
        `${messages.length}`,
        `${named.length}`,
        `${round(attempts / hung.length)}`,
        left || "nothing",
      ],
    ],
    verdicts: [
      {
        promise: `half of the pods on a network that hangs: the others attached within 2 × their floor (${seconds(limitMs)})`,
        seen: `${attachedCount(healthy)} of ${healthy.length} in ${seconds(Number.isFinite(tookMs) ? tookMs : undefined)}`,
        holds: tookMs <= limitMs,
      },
      {
        promise: "those that hang fail by deadline with the plugin named, are retried by budget, leak nothing",
        seen: `${hung.length - unfailed} of ${hung.length} failed, ${named.length} of ${messages.length} failures name the plugin, ${round(attempts / hung.length)} tries each, left behind: ${left || "nothing"}`,
        holds: unfailed === 0 && named.length === messages.length && left === "",
      },
    ],
    notes: unclear.slice(0, 1).map((message) => `A failure that does not name the plugin: ${message}`),
    plots: {},
    figures: { floorMs, tookMs, failures: messages.length, named: named.length, attempts, left },
  };
}
