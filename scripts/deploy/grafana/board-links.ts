import type { Panel } from "./board.ts";

/** The links to Levee's other boards at the top of each. */
export const otherBoards = link({
  type: "dashboards",
  title: "Levee",
  tags: ["levee"],
  includeVars: true,
  keepTime: true,
});

/** A link of a board or a panel, with every field that Grafana's model wants. */
function link(of: Readonly<Record<string, unknown>>): object {
  const empty = { type: "link", title: "", url: "", icon: "external link", tooltip: "", tags: [] };
  return { ...empty, asDropdown: false, includeVars: false, keepTime: false, targetBlank: false, ...of };
}

/** What a board needs to know beside time, data source and cluster. */
const subjects = { node: "node", pod: "namespace" } as const;

/** The address of a board about one node or namespace. `/d/UID` works without the title. */
function boardUrl(board: keyof typeof subjects, subject: string): string {
  const variables = ["var-datasource=${datasource}", "var-cluster=${cluster}", `var-${subjects[board]}=${subject}`];
  return ["/d/levee-", board, "?${__url_time_range}&", variables.join("&")].join("");
}

const titles = { node: "This node's board", pod: "The pods of this namespace" } as const;

/** In a plot the series carries the node as a label. */
export function fieldLinks(panel: Panel): readonly object[] {
  if (panel.link === undefined || panel.kind === "table" || !hasLabel(panel)) return [];
  return [{ title: titles[panel.link], url: boardUrl(panel.link, `\${__field.labels.${subjects[panel.link]}}`) }];
}

/** In a table the name itself is the link. */
export function nameOverrides(panel: Panel): readonly object[] {
  if (panel.link === undefined || panel.kind !== "table") return [];
  const value = [{ title: titles[panel.link], url: boardUrl(panel.link, "${__value.text}") }];
  return [{ matcher: { id: "byName", options: subjects[panel.link] }, properties: [{ id: "links", value }] }];
}

/** A panel about the one node of its board is linked as a whole. */
export function panelLinks(panel: Panel): readonly object[] {
  if (panel.link === undefined || panel.kind === "table" || hasLabel(panel)) return [];
  return [link({ title: titles[panel.link], url: boardUrl(panel.link, `\${${subjects[panel.link]}}`) })];
}

function hasLabel({ link, queries = [] }: Panel): boolean {
  return queries.some(({ legend = "" }) => link !== undefined && legend.includes(`{{${subjects[link]}}}`));
}
