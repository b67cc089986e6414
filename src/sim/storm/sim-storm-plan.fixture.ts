import { defaultModel } from "../machine/default-model.ts";
import { mibBytes } from "../machine/sim-machine.ts";
import type { SimStormPlan, SimStormPod } from "./sim-storm-plan.ts";

/** So many pods at once on one node, and two critical ones in the middle. */
export function simStormPlan({
  pods,
  ...rest
}: Partial<Omit<SimStormPlan, "pods">> & { readonly pods: number }): SimStormPlan {
  return {
    title: `${pods} pods`,
    impl: "levee",
    connectionLimit: undefined,
    seed: 1,
    nodes: ["node-1"],
    limits: { limitBytes: 50 * mibBytes, cpuMillis: undefined },
    model: defaultModel,
    networks: ["net-a"],
    pods: [
      ...Array.from({ length: pods }, (_, number) => podOf(`pod-${number}`, false)),
      ...Array.from({ length: 2 }, (_, number) => podOf(`critical-${number}`, true)),
    ],
    faults: [],
    timeoutMs: 180_000,
    criticalWithinMs: 3_000,
    restartMs: undefined,
    ...rest,
  };
}

function podOf(name: string, isCritical: boolean): SimStormPod {
  return {
    node: "node-1",
    namespace: isCritical ? "kube-system" : "storm",
    name,
    isCritical,
    networks: ["net-a"],
    atMs: isCritical ? 300 : 0,
    deleteAtMs: undefined,
    mustRun: true,
  };
}
