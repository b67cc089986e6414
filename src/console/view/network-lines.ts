import type { NetworkLine } from "../../wire/console-view.ts";
import type { NetworkReadyView } from "../../wire/node-view.ts";
import type { NetworkUse } from "./pod-book.ts";

const linesMax = 500;
const reasonsMax = 5;

/** One network as everybody sees it. */
export interface NetworkSight {
  readonly name: string;
  readonly plugins: readonly string[];
  readonly use: NetworkUse;
  /** It has a definition; pods may name one that does not exist. */
  readonly isDefined: boolean;
  /** By node, as its daemon told. */
  readonly onNodes: readonly NodeNetwork[];
}

export interface NodeNetwork extends NetworkReadyView {
  readonly node: string;
}

/** Those with trouble first, then the most used. */
export function sortedNetworks(sights: readonly NetworkSight[]): readonly NetworkLine[] {
  return sights
    .map(networkLine)
    .toSorted(
      (left, right) =>
        rank(right) - rank(left) ||
        right.waiting - left.waiting ||
        right.pods - left.pods ||
        (left.name < right.name ? -1 : 1),
    )
    .slice(0, linesMax);
}

export function networkLine({ name, plugins, use, isDefined, onNodes }: NetworkSight): NetworkLine {
  const bad = onNodes.filter(({ state }) => state === "not-ready");
  const ready = onNodes.filter(({ state }) => state === "ready").length;
  const missing = isDefined ? [] : ["pods name it, and it has no definition"];
  const why = [...missing, ...bad.map(({ node, reasons }) => `${node}: ${reasons.join(", ")}`)];
  const more = why.length - reasonsMax;
  return {
    name,
    plugins,
    state: stateOf({ isDefined, bad: bad.length, ready }),
    ready,
    nodes: onNodes.length,
    ...use,
    why: more > 0 ? [...why.slice(0, reasonsMax - 1), `and ${more + 1} more nodes`] : why,
  };
}

function stateOf(facts: {
  readonly isDefined: boolean;
  readonly bad: number;
  readonly ready: number;
}): NetworkLine["state"] {
  if (!facts.isDefined) return "failed";
  if (facts.bad > 0) return facts.ready === 0 ? "failed" : "warning";
  return facts.ready > 0 ? "ok" : "unknown";
}

const ranks: readonly NetworkLine["state"][] = ["ok", "unknown", "warning", "failed"];

function rank({ state }: NetworkLine): number {
  return ranks.indexOf(state);
}
