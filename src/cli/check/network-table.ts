import { renderTable } from "../terminal/table.ts";
import { plural } from "../terminal/plural.ts";
import type { NodeReport } from "./node-report.ts";

/** One network on all nodes. */
interface NetworkRow {
  readonly network: string;
  /** By node. A node that does not know the network, or was not asked, is missing. */
  readonly states: Readonly<Record<string, "ready" | "not-ready" | "unknown">>;
  /** What is missing, and on which nodes. */
  readonly missing: readonly { readonly reason: string; readonly nodes: readonly string[] }[];
}

/** Up to this many nodes get a column each. */
const columnsMax = 6;
/** With more networks, only those that are not ready everywhere are listed. */
const rowsMax = 50;
/** Name at most five nodes in a line. */
const nodesNamedMax = 5;

export function networkRows(reports: readonly NodeReport[]): readonly NetworkRow[] {
  const rows = new Map<
    string,
    { states: Record<string, "ready" | "not-ready" | "unknown">; missing: Map<string, string[]> }
  >();
  for (const { node, networks } of reports) {
    for (const { network, state, reasons } of networks ?? []) {
      const row = rows.get(network) ?? { states: {}, missing: new Map<string, string[]>() };
      rows.set(network, row);
      row.states[node] = state;
      // The reasons of a ready network are only doubts, which the node's own report shows.
      for (const reason of state === "ready" ? [] : reasons)
        row.missing.set(reason, [...(row.missing.get(reason) ?? []), node]);
    }
  }
  return [...rows]
    .map(([network, { states, missing }]) => ({
      network,
      states,
      missing: [...missing].map(([reason, nodes]) => ({ reason, nodes })),
    }))
    .toSorted((left, right) => left.network.localeCompare(right.network, "en"));
}

/** A table of networks by node, then what is missing on which node. */
export function networkTable(rows: readonly NetworkRow[], nodes: readonly string[], isFull: boolean): string {
  if (rows.length === 0) return "";
  const isShort = !isFull && rows.length > rowsMax;
  const shown = isShort ? rows.filter((row) => !isEverywhere(row, nodes)) : rows;
  const table = shown.length === 0 ? "" : `${tableOf(shown, nodes)}\n`;
  const hidden = rows.length - shown.length;
  const note = hidden === 0 ? "" : `${plural(hidden, "network")} ready on every node, not listed; -o wide lists all\n`;
  return `${table}${missingText(shown)}${note}`;
}

function tableOf(rows: readonly NetworkRow[], nodes: readonly string[]): string {
  if (nodes.length <= columnsMax)
    return renderTable(
      ["NETWORK", ...nodes],
      rows.map(({ network, states }) => [network, ...nodes.map((node) => states[node] ?? "")]),
    );
  return renderTable(
    ["NETWORK", "READY", "NOT READY ON"],
    rows.map((row) => [
      row.network,
      `${withState(row, "ready").length}/${nodes.length}`,
      listed(withState(row, "not-ready")),
    ]),
  );
}

function missingText(rows: readonly NetworkRow[]): string {
  const lines = rows.flatMap(({ network, missing }) =>
    missing.map(({ reason, nodes }) => `× ${network} on ${listed(nodes)}: ${reason}\n`),
  );
  return lines.length === 0 ? "" : `${lines.join("")}\n`;
}

function isEverywhere(row: NetworkRow, nodes: readonly string[]): boolean {
  return withState(row, "ready").length === nodes.length;
}

function withState({ states }: NetworkRow, wanted: string): readonly string[] {
  return Object.entries(states).flatMap(([node, state]) => (state === wanted ? [node] : []));
}

function listed(nodes: readonly string[]): string {
  const more = nodes.length - nodesNamedMax;
  return `${nodes.slice(0, nodesNamedMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
