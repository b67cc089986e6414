import type { MachineModel } from "../../../sim/machine/machine-model.ts";
import type { Implementation } from "../../../sim/storm/sim-storm-plan.ts";
import { breakingPoint, smallestLimit, triedOf, type BreakingPoint, type Tried } from "./breaking-point.ts";
import type { ClusterShape, NodeShape } from "./read-shape.ts";

/** What is said of one node. */
export interface NodeForecast {
  readonly name: string;
  readonly pods: number;
  /** With what the cluster runs now. */
  readonly now: BreakingPoint;
  readonly withMultus: BreakingPoint;
  /** The smallest limit of Levee for the pods that the node has now; undefined when none of those tried is enough. */
  readonly limitMib: number | undefined;
}

interface ForecastNeeds {
  readonly shape: ClusterShape;
  readonly model: MachineModel;
  /** The most pods that are tried on one node. */
  readonly podsMax: number;
  readonly isInterrupted: () => boolean;
  readonly onStorm: (node: string, pods: number) => void;
}

/** What people write into manifests. */
const limitsMib = [16, 24, 32, 50, 64, 96, 128, 192, 256, 384, 512, 1_024];
const mibBytes = 1024 ** 2;

/** Simulates storms of each node until it is known where it breaks. Nodes of the same kind are simulated once. */
export async function forecast(needs: ForecastNeeds): Promise<readonly NodeForecast[]> {
  const known = new Map<string, Omit<NodeForecast, "name">>();
  const found: NodeForecast[] = [];
  for (const node of needs.shape.nodes) {
    if (needs.isInterrupted()) break;
    const kind = `${node.pods} ${node.networks} ${Math.min(node.critical, criticalMax)}`;
    const forecastOf = known.get(kind) ?? (await ofNode(node, needs));
    // Half of a search says nothing.
    if (needs.isInterrupted()) break;
    known.set(kind, forecastOf);
    found.push({ name: node.name, ...forecastOf });
  }
  return found;
}

/** As many come into the middle of each storm. */
const criticalMax = 6;

async function ofNode(node: NodeShape, needs: ForecastNeeds): Promise<Omit<NodeForecast, "name">> {
  const { shape, podsMax } = needs;
  const current: Implementation = shape.isLevee ? "levee" : "multus-4.2.2";
  const search = (impl: Implementation): Promise<BreakingPoint> =>
    breakingPoint({ from: Math.max(16, Math.floor(node.pods / 2)), max: podsMax }, (pods) =>
      storm({ node, needs, impl, pods, limitBytes: shape.limitBytes }),
    );
  const withMultus = await search("multus-4.2.2");
  const now = current === "levee" ? await search("levee") : withMultus;
  const limitMib = await smallestLimit(limitsMib, async (mib) => {
    const tried = await storm({ node, needs, impl: "levee", pods: Math.max(1, node.pods), limitBytes: mib * mibBytes });
    return tried.holds;
  });
  return { pods: node.pods, now, withMultus, limitMib };
}

interface NodeStorm {
  readonly node: NodeShape;
  readonly needs: ForecastNeeds;
  readonly impl: Implementation;
  readonly pods: number;
  readonly limitBytes: number;
}

async function storm({ node, needs, impl, pods, limitBytes }: NodeStorm): Promise<Tried> {
  const { runSimStorm } = await import("../../../sim/storm/run-sim-storm.ts");
  const { burstPlan } = await import("../../../sim/storm/burst-plan.ts");
  const { model, shape, isInterrupted, onStorm } = needs;
  onStorm(node.name, pods);
  const critical = Math.min(node.critical, criticalMax);
  const limits = { limitBytes, cpuMillis: shape.cpuMillis };
  // A node with Multus is asked only whether it survives: its critical pods wait for all others in any case.
  const patience = impl === "levee" ? {} : { criticalWithinMs: Number.MAX_SAFE_INTEGER };
  const plan = burstPlan({ model, pods, limits, impl, critical, networks: node.networks, ...patience });
  return triedOf(await runSimStorm(plan, { isInterrupted }));
}

/** The model with what this cluster's plugins have cost. Their daemon measures CPU, and not what the kernel adds. */
export function modelOf(model: MachineModel, { plugins }: ClusterShape): MachineModel {
  if (plugins === undefined) return model;
  const { cpuMs } = plugins;
  return {
    ...model,
    pluginCpuMs: cpuMs,
    multus: { ...model.multus, pluginCpuMs: Math.max(cpuMs, model.multus.pluginCpuMs) },
  };
}
