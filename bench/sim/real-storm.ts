import { systemClock, type Cancel } from "../../src/base/clock.ts";
import type { PodProgress } from "../../src/cli/storm/fleet.ts";
import type { Bench } from "../bench.ts";
import type { Contender } from "../contenders/contender.ts";
import { installOddPlugin } from "../ground/odd-plugins.ts";
import { networkNamespace, type PodWish } from "../ground/node-source.ts";
import { mib } from "../storm/meter.ts";
import { stormPods, vitalPods } from "../storm/pods.ts";
import { attachedCount, stormOn, waits } from "../storm/storm.ts";

/** A storm that runs both for real and in the simulator. */
export interface SimCase {
  readonly label: string;
  /** As the command `levee sim storm` calls it. */
  readonly impl: "levee" | "multus-4.2.2" | "multus-4.3.0";
  readonly pods: number;
  /** 50 without it. */
  readonly limitMib?: number;
  readonly cpuMillis?: number;
  /** Of Multus 4.3.0. */
  readonly connectionLimit?: number;
  /** Every other pod asks for a network whose plugin never ends. */
  readonly hangs?: boolean;
  readonly killEveryMs?: number;
  /** Without critical pods in the middle. */
  readonly isAlone?: boolean;
  readonly cutMs: number;
}

/** What both say of a storm. */
export interface SimFigures {
  readonly attached: number;
  /** Until the last pod that can be attached was attached; undefined when one was not. */
  readonly tookMs: number | undefined;
  /** The longest wait of a critical pod; undefined when one was never attached. */
  readonly criticalMs: number | undefined;
  readonly refusals: number;
  readonly oomKills: number;
  readonly firstKillMs: number | undefined;
  readonly daemonCpuMs: number;
  readonly anonPeakMib: number;
}

export const usualLimitMib = 50;
const hungNetwork = "stuck";
const lookMs = 50;

export async function realStorm(bench: Bench, contender: Contender, wanted: SimCase): Promise<SimFigures> {
  await bench.ground.clear();
  if (wanted.hangs === true) await addHungNetwork(bench);
  const { cpuMillis, killEveryMs, limitMib = usualLimitMib } = wanted;
  const limits = { memoryBytes: limitMib * mib, ...(cpuMillis === undefined ? {} : { cpuMillis }) };
  // As after a reboot: a daemon that hears of critical pods in a storm holds the others for them.
  const pods = podsOf(wanted);
  const late = hasCritical(wanted) ? vitalPods : [];
  await bench.ground.source.addPods([...pods, ...late]);
  const node = await contender.start({ limits, ...(killEveryMs === undefined ? {} : { restartMs: 0 }) });
  const beganMs: { at?: number } = {};
  let firstKillMs: number | undefined;
  const stopLooking = systemClock.every(lookMs, () => {
    if (node.daemon.oomKills > 0 && beganMs.at !== undefined) firstKillMs ??= systemClock.monotonicMs() - beganMs.at;
  });
  let stopKilling: Cancel = () => undefined;
  try {
    const outcome = await stormOn(bench.ground, node, {
      pods,
      late,
      cutMs: wanted.cutMs,
      onBegin: () => {
        beganMs.at = systemClock.monotonicMs();
        // From the first pod on, as in the simulator: the critical ones come with a kill.
        if (killEveryMs !== undefined) stopKilling = systemClock.every(killEveryMs, () => node.group.killAll());
      },
    });
    stopKilling();
    const able = outcome.records.filter((record) => !isHung(record));
    const times = able.map(({ attachedMs }) => attachedMs);
    const [criticalMs] = waits(outcome.late);
    return {
      attached: attachedCount(outcome.records),
      tookMs: times.includes(undefined) ? undefined : Math.max(...times.map(Number)),
      criticalMs,
      refusals: [...outcome.records, ...outcome.late].reduce((sum, { errors }) => sum + errors.length, 0),
      oomKills: node.daemon.oomKills,
      firstKillMs,
      daemonCpuMs: outcome.peaks.cpuMs,
      anonPeakMib: outcome.peaks.anonPeakMib,
    };
  } finally {
    stopKilling();
    stopLooking();
    await node.stop();
  }
}

/** Also with kills and with a hanging network: critical pods are promised their wait there, too. */
export function hasCritical({ isAlone = false }: SimCase): boolean {
  return !isAlone;
}

async function addHungNetwork({ ground }: Bench): Promise<void> {
  installOddPlugin(ground, "hangs");
  await ground.source.addNetwork(hungNetwork, { cniVersion: "1.0.0", name: hungNetwork, type: "hangs" });
}

function podsOf({ pods, hangs }: SimCase): readonly PodWish[] {
  const annotations = { "k8s.v1.cni.cncf.io/networks": `${networkNamespace}/${hungNetwork}` };
  return stormPods(pods).map((pod, index) =>
    hangs === true && index % 2 === 0 ? { ...pod, name: `hang${index}`, annotations } : pod,
  );
}

function isHung({ pod }: PodProgress): boolean {
  return pod.name.startsWith("hang");
}
