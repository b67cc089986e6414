import type { HeldLine } from "../../wire/console-storm.ts";
import type { HeldPodView, HoldsAnswer } from "../../wire/node-holds.ts";
import type { DaemonFacts } from "../facts/daemon-facts.ts";
import type { DaemonSaid } from "./daemon-asker.ts";

const linesMax = 50;

/** Who is held back on all nodes: by name where a daemon has told names, and those it has not named as a number. */
export function heldLines(said: ReadonlyMap<string, DaemonSaid>): readonly HeldLine[] {
  const lines = [...said].flatMap(([node, { facts, deep }]) =>
    facts === undefined ? [] : linesOn(node, facts, deep?.holds ?? noHolds),
  );
  return lines.toSorted((left, right) => rank(left) - rank(right) || right.count - left.count).slice(0, linesMax);
}

const noHolds: HoldsAnswer = { pods: [], podsTotal: 0, networks: [], hung: [] };

const ranks: readonly HeldLine["kind"][] = ["hung", "network", "pods"];

function rank({ kind }: HeldLine): number {
  return ranks.indexOf(kind);
}

/** Numbers are seconds old and names up to minutes: what the numbers no longer have is not shown. */
function linesOn(node: string, facts: DaemonFacts, holds: HoldsAnswer): readonly HeldLine[] {
  const hung = holds.hung.slice(0, facts.hung).map(({ namespace, pod, plugin, network, forMs }): HeldLine => {
    const why = `${plugin === "" ? "a plugin" : plugin} of ${network} uses no CPU and does not end`;
    return { node, kind: "hung", name: `${namespace}/${pod}`, count: 1, forMs, why };
  });
  const networks = holds.networks.slice(0, facts.halfOpen).map(({ network, failures, forMs }): HeldLine => {
    const why = "fails for every pod; the story of a pod that asks for it has the plugin's words";
    return { node, kind: "network", name: network, count: failures, forMs, why };
  });
  const pods = holds.pods.slice(0, facts.held).map((held): HeldLine => podLine(node, held));
  const rest = (kind: HeldLine["kind"], count: number, why: string): readonly HeldLine[] =>
    count <= 0 ? [] : [{ node, kind, name: "", count, forMs: 0, why }];
  return [
    ...hung,
    ...rest("hung", facts.hung - hung.length, "plugins use no CPU and do not end; levee top on the node names them"),
    ...networks,
    ...rest(
      "network",
      facts.halfOpen - networks.length,
      "networks fail for every pod; levee top on the node names them",
    ),
    ...pods,
    ...rest("pods", facts.held - pods.length, "pods failed and wait for their next try; levee why POD says why"),
  ];
}

function podLine(node: string, { namespace, pod, failures, nextTryMs, cause, network = "" }: HeldPodView): HeldLine {
  const of = cause === "own" ? "what it asks for" : network === "" ? "its network" : network;
  const why = `failed ${failures === 1 ? "once" : `${failures} times`} because of ${of}; its next try is in ${Math.ceil(nextTryMs / 1_000)} s`;
  return { node, kind: "pods", name: `${namespace}/${pod}`, count: 1, forMs: 0, why };
}
