import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { NodeCell } from "../../wire/console-view.ts";
import { standingVerdict } from "../../wire/standing-verdict.ts";
import type { NetworkSight, NodeNetwork } from "../view/network-lines.ts";
import { nodeCell } from "../view/node-cells.ts";
import type { PodBook } from "../view/pod-book.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import type { DaemonSaid } from "./daemon-asker.ts";

/** Everything that the parts of the page are made of. */
export interface ClusterWorld {
  readonly copy: ClusterCopy;
  readonly book: PodBook;
  readonly said: ReadonlyMap<string, DaemonSaid>;
}

interface NodeFactsNow {
  readonly gates: ReadonlyMap<string, RebootGate>;
  readonly nowMs: number;
}

/** A cell for each node, in the order of their names. */
export function nodeCells({ copy, book, said }: ClusterWorld, { gates, nowMs }: NodeFactsNow): readonly NodeCell[] {
  const killed = book.killedOf(copy.cniDaemons(), nowMs);
  return [...copy.nodes.store.values()]
    .map(({ name, isReady, isCordoned }) => {
      const { facts, silence = "" } = said.get(name) ?? {};
      const gate = gates.get(name);
      return nodeCell({
        ...{ name, isReady, isCordoned },
        daemon: facts,
        silence: silence === "" ? "" : `its daemon does not answer: ${silence}`,
        waitingPods: book.waitingOn(name),
        killed: killed.get(name) ?? [],
        rebootMs: markOf(facts) ?? gate?.rebootRequiredSinceMs,
        gate: gate && (standingVerdict(name, gate, nowMs).isAllowed ? "Allow" : "Deny"),
      });
    })
    .toSorted((left, right) => compare(left.name, right.name));
}

/** Since when nodes ask for a reboot by their own mark. */
export function rebootMarks(said: ReadonlyMap<string, DaemonSaid>): ReadonlyMap<string, number> {
  const marks = new Map<string, number>();
  for (const [node, { facts }] of said) {
    const mark = markOf(facts);
    if (mark !== undefined) marks.set(node, mark);
  }
  return marks;
}

function markOf(facts: DaemonSaid["facts"]): number | undefined {
  return facts === undefined || facts.rebootMs === 0 ? undefined : facts.rebootMs;
}

/** Every network that has a definition, that a pod names, or that a daemon knows. */
export function networkSights(world: ClusterWorld): readonly NetworkSight[] {
  const onNodes = networksOnNodes(world.said);
  const defined = [...world.copy.networks.store.values()].map(({ namespace, name }) => `${namespace}/${name}`);
  const names = new Set([...defined, ...world.book.networks(), ...onNodes.keys()]);
  return [...names].map((name) => sightOf(name, world, onNodes.get(name) ?? []));
}

export function networkSight(name: string, world: ClusterWorld): NetworkSight | undefined {
  return networkSights(world).find((sight) => sight.name === name);
}

function sightOf(name: string, { copy, book }: ClusterWorld, onNodes: readonly NodeNetwork[]): NetworkSight {
  const [namespace = "", own = ""] = name.split("/");
  const seen = copy.networks.store.get(namespace, own);
  // Without a complete list nobody knows what is missing. A name without a namespace is the node's own.
  const isKnown = seen !== undefined || onNodes.length > 0 || own === "" || !copy.networks.health().isSynced;
  return { name, plugins: seen?.plugins ?? [], use: book.useOf(name), isDefined: isKnown, onNodes };
}

function networksOnNodes(said: ReadonlyMap<string, DaemonSaid>): ReadonlyMap<string, readonly NodeNetwork[]> {
  const byNetwork = new Map<string, NodeNetwork[]>();
  for (const [node, { deep }] of said) {
    for (const network of deep?.checks.networks ?? []) {
      const list = byNetwork.get(network.network);
      if (list === undefined) byNetwork.set(network.network, [{ ...network, node }]);
      else list.push({ ...network, node });
    }
  }
  return byNetwork;
}

/** `node-2` before `node-10`, as people count. */
const collator = new Intl.Collator("en", { numeric: true });

function compare(left: string, right: string): number {
  return collator.compare(left, right);
}
