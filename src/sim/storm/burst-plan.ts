import type { MachineModel } from "../machine/machine-model.ts";
import type { ContainerLimits } from "../machine/sim-machine.ts";
import type { Implementation, SimStormPlan, SimStormPod } from "./sim-storm-plan.ts";

interface Burst {
  readonly model: MachineModel;
  readonly pods: number;
  readonly limits: ContainerLimits;
  readonly impl?: Implementation;
  readonly critical?: number;
  /** How many networks pods have besides the default one: a mix that the pods share evenly. One each without it. */
  readonly networksMix?: readonly number[];
  readonly timeoutMs?: number;
  readonly criticalWithinMs?: number;
}

/** Critical pods come into the middle of the storm. */
const criticalAtMs = 2_000;
const usualTimeoutMs = 180_000;
const usualWithinMs = 3_000;
export const burstNode = "node";

/** All pods of one node at once, as after a reboot, as `levee storm` and the benchmarks start them. */
export function burstPlan(burst: Burst): SimStormPlan {
  const { model, pods, limits, impl = "levee", critical = 0, networksMix = [1] } = burst;
  const networks = Array.from({ length: Math.max(0, ...networksMix) }, (_, number) => `net-${number + 1}`);
  const podOf = (name: string, isCritical: boolean, share: number): SimStormPod => ({
    node: burstNode,
    namespace: isCritical ? "kube-system" : "storm",
    name,
    isCritical,
    networks: networks.slice(0, networksMix[Math.floor(share * networksMix.length)]),
    atMs: isCritical ? criticalAtMs : 0,
    deleteAtMs: undefined,
    mustRun: true,
  });
  return {
    title: `${pods} pods`,
    impl,
    connectionLimit: undefined,
    seed: 1,
    nodes: [burstNode],
    limits,
    model,
    networks,
    pods: [
      ...Array.from({ length: pods }, (_, number) => podOf(`pod-${number}`, false, number / pods)),
      ...Array.from({ length: critical }, (_, number) => podOf(`critical-${number}`, true, number / critical)),
    ],
    faults: [],
    timeoutMs: burst.timeoutMs ?? usualTimeoutMs,
    criticalWithinMs: burst.criticalWithinMs ?? usualWithinMs,
    restartMs: undefined,
  };
}
