import type { MachineModel } from "../../src/sim/machine/machine-model.ts";
import { burstNode, burstPlan } from "../../src/sim/storm/burst-plan.ts";
import { runSimStorm } from "../../src/sim/storm/run-sim-storm.ts";
import type { SimStormFault, SimStormPlan } from "../../src/sim/storm/sim-storm-plan.ts";
import { mib } from "../storm/meter.ts";
import { hasCritical, usualLimitMib, type SimCase, type SimFigures } from "./real-storm.ts";

const criticalPods = 6;
const hungNetwork = "stuck";

/** The same storm in the simulator. */
export async function modelStorm(wanted: SimCase, model: MachineModel): Promise<SimFigures> {
  const end = await runSimStorm(planOf(wanted, model));
  const [node] = end.nodes;
  const [able, critical] = [false, true].map((isCritical) =>
    end.records.filter(({ pod }) => pod.mustRun && pod.isCritical === isCritical),
  );
  const longest = (waits: readonly (number | undefined)[]): number | undefined =>
    waits.length === 0 || waits.includes(undefined) ? undefined : Math.max(...waits.map(Number));
  const storm = end.records.filter(({ pod }) => !pod.isCritical);
  return {
    attached: storm.filter(({ attachedMs }) => attachedMs !== undefined).length,
    tookMs: longest((able ?? []).map(({ attachedMs }) => attachedMs)),
    criticalMs: longest(
      (critical ?? []).map(({ attachedMs, arrivedMs }) =>
        attachedMs === undefined ? undefined : attachedMs - arrivedMs,
      ),
    ),
    refusals: end.records.reduce((sum, { refusals }) => sum + refusals, 0),
    oomKills: node?.oomKills ?? 0,
    firstKillMs: node?.firstKillMs,
    daemonCpuMs: node?.daemonCpuMs ?? 0,
    anonPeakMib: (node?.anonPeakBytes ?? 0) / mib,
  };
}

function planOf(wanted: SimCase, model: MachineModel): SimStormPlan {
  const {
    impl,
    pods,
    limitMib = usualLimitMib,
    cpuMillis,
    connectionLimit,
    hangs = false,
    killEveryMs,
    cutMs,
  } = wanted;
  const limits = { limitBytes: limitMib * mib, cpuMillis };
  const critical = hasCritical(wanted) ? criticalPods : 0;
  const plan = burstPlan({ model, pods, limits, impl, critical, timeoutMs: cutMs });
  const killed = {
    ...plan,
    connectionLimit,
    faults: killsOf(killEveryMs, cutMs),
    ...(killEveryMs === undefined ? {} : { restartMs: [0] }),
  };
  return hangs ? withHungNetwork(killed, cutMs) : killed;
}

function killsOf(everyMs: number | undefined, cutMs: number): readonly SimStormFault[] {
  if (everyMs === undefined) return [];
  return Array.from({ length: Math.floor(cutMs / everyMs) }, (_, number) => ({
    node: burstNode,
    fault: { kind: "kill-daemon" as const, atMs: everyMs * (number + 1) },
  }));
}

/**
 * Every other pod asks for it, and need not be attached. The critical ones do not. The real storm is cut off, as these pods
 * are never attached; the simulated one ends then, too.
 */
function withHungNetwork(plan: SimStormPlan, cutMs: number): SimStormPlan {
  const fault = { kind: "network-hangs" as const, atMs: 0, forMs: cutMs, network: hungNetwork };
  return {
    ...plan,
    networks: [...plan.networks, hungNetwork],
    pods: plan.pods.map((pod, index) =>
      index % 2 === 0 && !pod.isCritical ? { ...pod, networks: [hungNetwork], mustRun: false } : pod,
    ),
    faults: [{ node: burstNode, fault }],
    timeoutMs: 1,
    lastsMs: cutMs,
  };
}
