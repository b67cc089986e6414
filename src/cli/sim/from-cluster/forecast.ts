import type { MachineModel } from "../../../sim/machine/machine-model.ts";
import type { Implementation } from "../../../sim/storm/sim-storm-plan.ts";
import { breakingPoint, smallestLimit, triedOf, type BreakingPoint, type Tried } from "./breaking-point.ts";
import type { CniDaemonShape } from "./node-daemons.ts";
import type { NodeShape } from "./node-shape.ts";
import type { ClusterShape } from "./read-shape.ts";

/** What is said of one node. */
export interface NodeForecast {
  readonly node: NodeShape;
  /** With what the node runs now. */
  readonly now: BreakingPoint;
  /** The Multus that it is compared with: its own, or for a node with Levee one as Multus' manifest sets it up. */
  readonly multus: CniDaemonShape;
  readonly withMultus: BreakingPoint;
  /** The smallest limit for the pods that the node has now; undefined when none of those tried is enough. */
  readonly limitMib: number | undefined;
  /** The same with Levee. */
  readonly leveeLimitMib: number | undefined;
}

interface ForecastNeeds {
  readonly shape: ClusterShape;
  readonly model: MachineModel;
  /** The most pods that are tried on one node. */
  readonly podsMax: number;
  /** Asked after everything that happens in a storm. */
  readonly isInterrupted: () => boolean;
  readonly onStorm: (node: string, storm: string) => void;
}

/** What people write into manifests. */
const limitsMib = [16, 24, 32, 50, 64, 96, 128, 192, 256, 384, 512, 1_024];
const mibBytes = 1024 ** 2;
/** The limits of Multus' own manifest, `deployments/multus-daemonset-thick.yml`. Those of a node's Levee say nothing of it. */
const shippedMultus: CniDaemonShape = { impl: "multus-4.2.2", limitBytes: 50 * mibBytes, cpuMillis: 100 };

/** Simulates storms of each node until it is known where it breaks. Nodes of the same kind are simulated once. */
export async function forecast(needs: ForecastNeeds): Promise<readonly NodeForecast[]> {
  const known = new Map<string, Omit<NodeForecast, "node">>();
  const found: NodeForecast[] = [];
  for (const node of needs.shape.nodes) {
    if (needs.isInterrupted()) break;
    const kind = kindOf(node);
    const forecastOf = known.get(kind) ?? (await ofNode(node, needs));
    // Half of a search says nothing.
    if (needs.isInterrupted()) break;
    known.set(kind, forecastOf);
    found.push({ node, ...forecastOf });
  }
  return found;
}

/** As many come into the middle of each storm. */
const criticalMax = 6;
/** With fewer pods at once nothing is a storm. */
const firstPods = 16;

/** The same for nodes whose storms are the same. */
function kindOf({ networksMix, critical, cores, daemon, chain }: NodeShape): string {
  const mix = networksMix.toSorted((one, other) => one - other);
  return JSON.stringify([mix, Math.min(critical, criticalMax), cores, daemon, chain]);
}

async function ofNode(node: NodeShape, needs: ForecastNeeds): Promise<Omit<NodeForecast, "node">> {
  const { daemon } = node;
  // The pods that it has now come first: whether it holds them is what matters most.
  const from = Math.max(firstPods, node.pods);
  const search = (one: CniDaemonShape): Promise<BreakingPoint> =>
    breakingPoint({ from, max: Math.max(from, needs.podsMax) }, (pods) => storm({ node, needs, daemon: one, pods }));
  const smallest = (impl: Implementation): Promise<number | undefined> =>
    smallestLimit(limitsMib, async (mib) => {
      const pods = Math.max(1, node.pods);
      const limited = { ...daemon, impl, limitBytes: mib * mibBytes };
      return (await storm({ node, needs, daemon: limited, pods })).holds;
    });
  const now = await search(daemon);
  const limitMib = await smallest(daemon.impl);
  if (daemon.impl !== "levee")
    return { now, multus: daemon, withMultus: now, limitMib, leveeLimitMib: await smallest("levee") };
  const withMultus = await search(shippedMultus);
  return { now, multus: shippedMultus, withMultus, limitMib, leveeLimitMib: limitMib };
}

interface NodeStorm {
  readonly node: NodeShape;
  readonly needs: ForecastNeeds;
  /** What attaches the pods in it, instead of the node's own. */
  readonly daemon: CniDaemonShape;
  readonly pods: number;
}

async function storm({ node, needs, daemon, pods }: NodeStorm): Promise<Tried> {
  const { model, isInterrupted, onStorm } = needs;
  // A search that was ended is thrown away: it need not be right.
  if (isInterrupted()) return { holds: true, why: "" };
  const { runSimStorm } = await import("../../../sim/storm/run-sim-storm.ts");
  const { burstPlan } = await import("../../../sim/storm/burst-plan.ts");
  const { impl, limitBytes, cpuMillis } = daemon;
  onStorm(node.name, `${pods} pods at ${limitBytes / mibBytes} MiB with ${impl}`);
  const critical = Math.min(node.critical, criticalMax);
  // A node with Multus is asked only whether it survives: its critical pods wait for all others in any case.
  const patience = impl === "levee" ? {} : { criticalWithinMs: Number.MAX_SAFE_INTEGER };
  const { networksMix } = node;
  const mix = networksMix.length === 0 ? {} : { networksMix };
  const plan = burstPlan({
    model: modelOf(model, node),
    pods,
    limits: { limitBytes, cpuMillis },
    impl,
    critical,
    ...mix,
    ...patience,
  });
  return triedOf(await runSimStorm(plan, { isInterrupted }));
}

/** The model with the node's cores, and with what plugins have cost there. */
function modelOf(model: MachineModel, { cores, chain }: NodeShape): MachineModel {
  const { multus } = model;
  return {
    ...model,
    cores: Math.max(1, cores ?? model.cores),
    pluginCpuMs: chain?.cpuMs ?? model.pluginCpuMs,
    // A histogram's first bucket ends above the model's wait, so it cannot prove a shorter one.
    pluginWaitMs: Math.max(model.pluginWaitMs, chain?.waitMs ?? 0),
    // Multus starts a program for each plugin, also where Levee has a built-in one.
    multus: { ...multus, pluginCpuMs: Math.max(chain?.cpuMs ?? 0, multus.pluginCpuMs) },
  };
}
