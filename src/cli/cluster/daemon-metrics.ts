import { isLeveeDaemon } from "./cni-daemon-set.ts";
import { inLanes } from "./in-lanes.ts";
import { metricsOf, type Metric } from "../../wire/metric-lines.ts";
import { see, seeList, seeText, valueOr, type Asking, type Seen } from "./seen.ts";
import type { Snapshot } from "./snapshot.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";

/** Metrics of the daemons and guards, read through the API server. */
export interface DaemonMetrics {
  /** By node; empty if Levee's daemon is not installed. */
  readonly nodes: ReadonlyMap<string, Seen<readonly Metric[]>>;
  /** By pod of the guard. */
  readonly guards: ReadonlyMap<string, Seen<readonly Metric[]>>;
}

/** The API server needs some seconds to notice that a node is away. */
const askMs = 10_000;
const guardPort = 9811;

export async function askDaemons(asking: Asking, snapshot: Snapshot, metricsPort: number): Promise<DaemonMetrics> {
  const hasOurs = valueOr(snapshot.daemonSets, []).some(isLeveeDaemon);
  const nodes = hasOurs ? valueOr(snapshot.nodes, []).filter(({ isLinux }) => isLinux) : [];
  const guards = await guardPods(asking, snapshot.namespace);
  const home = encodeURIComponent(snapshot.namespace);
  return {
    nodes: await askAll(
      asking,
      nodes.map(({ name }) => name),
      (node) => `/api/v1/nodes/http:${encodeURIComponent(node)}:${metricsPort}/proxy/metrics`,
    ),
    guards: await askAll(
      asking,
      guards,
      (pod) => `/api/v1/namespaces/${home}/pods/http:${encodeURIComponent(pod)}:${guardPort}/proxy/metrics`,
    ),
  };
}

async function guardPods(asking: Asking, namespace: string): Promise<readonly string[]> {
  const selector = encodeURIComponent("app.kubernetes.io/component=guard");
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?labelSelector=${selector}`;
  return valueOr(await seeList(asking, path, (item) => textOf(objectOf(objectOf(item)["metadata"])["name"])), []);
}

function askAll(
  asking: Asking,
  names: readonly string[],
  pathOf: (name: string) => string,
): Promise<ReadonlyMap<string, Seen<readonly Metric[]>>> {
  return inLanes(names, (name) => see(asking, async () => metricsOf(await seeText(asking, pathOf(name), askMs))));
}
