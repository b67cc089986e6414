/** Every expression of the boards, asked of the real promtool in a replay of the outage. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { boardNames, boardOf } from "../../scripts/deploy/grafana/grafana-files.ts";
import { plain, tableRows } from "../../scripts/check/pages/markdown.ts";
import { askPromtool, type Question } from "../alerts/replay.ts";
import { series } from "../alerts/series.ts";
import { isAnswered, isTold, labelsOf, queriesOf, seenFrom, viewpoints, type Viewpoint } from "./board-questions.ts";
import { minutes, stormOnLevee } from "./storm-on-levee.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const rules = read("deploy/alerts/levee.rules.yaml");
const storm = { name: "the storm on Levee", minutes, series: stormOnLevee() };
const boards = boardNames.map((name) => [name, boardOf(name, read)] as const);
const [first] = viewpoints;

describe.each(boards)("the board of the %s", (_name, board) => {
  const queries = queriesOf(board);

  test("answers every question in the storm, with every label of the legend", () => {
    const questions = queries.map(({ query }) => isAnswered(query.expr, labelsOf(query.legend ?? "")));
    expect(askPromtool(storm, [...questions, isAnswered(board.alerts, ["alertname"])], rules)).toBe("");
  }, 120_000);

  test("gives no two lines the same legend, and a number one value", () => {
    const told = queries.filter(({ kind }) => kind !== "table");
    const questions = told.map(({ query }) => isTold(query.expr, labelsOf(query.legend ?? "")));
    expect(askPromtool(storm, questions, rules)).toBe("");
  }, 120_000);

  test("offers something to choose for each variable", () => {
    const questions = board.variables.map(({ query }) => {
      const [, selector = "", label = ""] = /^label_values\((.+), (\w+)\)$/u.exec(query) ?? [];
      // This Prometheus has one cluster and no label for it.
      const wanted =
        label === "cluster" ? `${selector}` : `label_replace(${selector}, "missing", "yes", "${label}", "")`;
      return question(`count by (missing) (${wanted}) > bool 0`, first, 60, { "{}": 1 });
    });
    expect(askPromtool(storm, questions, rules)).toBe("");
  }, 60_000);

  test("has a number or a word for every stat when nothing is scraped", () => {
    const nothing = { name: "nothing is scraped", minutes: 10, series: [series("up", { job: "x" }, 1)] };
    const questions = queries
      .filter(({ kind, mayBeEmpty }) => kind === "stat" && !mayBeEmpty)
      .map(({ query }) => question(`count(${query.expr})`, first, 10, { "{}": 1 }));
    expect(askPromtool(nothing, questions, rules)).toBe("");
  }, 60_000);
});

test("the storm is told in the labels that the real metrics have", () => {
  const rows = tableRows(read("docs/metrics.md"), ["metric", "type", "labels", "meaning"]) ?? [];
  const documented = new Map(rows.map(({ cells }) => [plain(cells[0]), (cells[2] ?? "").split(/,\s*/u)]));
  // Of a lock that belongs to no node the holder is not named. Buckets have their bound.
  const ofScrape = ["cluster", "namespace", "pod", "container", "instance", "node", "le"];
  for (const { name, labels } of storm.series.filter((each) => each.name.startsWith("levee_"))) {
    const own = documented.get(name.replace(/_bucket$/u, "")) ?? ["not on the page"];
    const told = Object.keys(labels);
    expect([name, ...told.filter((label) => ![...own, ...ofScrape].includes(label))]).toEqual([name]);
    expect([name, ...own.filter((label) => !["–", "node", ...told].includes(label))]).toEqual([name]);
  }
});

test.each([
  ["a metric that nobody exports", isAnswered("max(levee_nothing)", []), "got: nil"],
  ["a legend with a label that the series lack", isAnswered("sum by (class) (levee_waiting)", ["node"]), "missing="],
  ["a number for which there is only a zero", isAnswered("max(levee_nothing) or vector(0)", []), "got: nil"],
  ["lines that look alike", isTold("sum by (node, class) (levee_waiting)", ["class"]), "got: {} 0"],
  ["what is no PromQL", isAnswered("max(levee_ready", []), "parse error"],
])(
  "a board with %s would be found",
  (_what, asked, said) => {
    expect(askPromtool(storm, [asked], rules)).toContain(said);
  },
  60_000,
);

function question(
  expr: string,
  viewpoint: Viewpoint | undefined,
  minute: number,
  answer: Readonly<Record<string, number>>,
): Question {
  const seen = viewpoint === undefined ? expr : seenFrom(viewpoint, expr);
  return { expr: seen, minute, answer: Object.entries(answer).map(([labels, value]) => ({ labels, value })) };
}

test("the boards say in minute 60 of the storm what was made to happen", () => {
  const questions = answers.map(([name, panel, which, answer]) => {
    const board = boards.find(([each]) => each === name)?.[1];
    const found = board === undefined ? [] : queriesOf(board).filter((each) => each.panel === panel);
    return question(found[which]?.query.expr ?? "", first, 60, answer);
  });
  expect(askPromtool(storm, questions, rules)).toBe("");
}, 60_000);

type Answer = readonly [board: string, panel: string, which: number, answer: Readonly<Record<string, number>>];

const answers: readonly Answer[] = [
  ["cluster", "Decisions that wait", 0, { "{}": 2 }],
  ["cluster", "Calls in line", 0, { "{}": 3 * (73 + 2) }],
  ["cluster", "Nodes without a ready daemon", 0, { "{}": 1 }],
  ["cluster", "Reboots that wait", 0, { "{}": 1 }],
  // 219 in all, of which those of the last five minutes are young.
  ["cluster", "Pods that do not start", 0, { "{}": 201 }],
  ["cluster", "Nodes in trouble", 0, { '{node="agent2"}': 1 }],
  ["cluster", "Nodes in trouble", 3, { '{node="agent1"}': 92 / 96 }],
  ["cluster", "Nodes in trouble", 4, { '{node="agent1"}': 1 }],
  ["cluster", "Nodes in trouble", 5, { '{node="agent2"}': 1 / 3 }],
  ["cluster", "Nodes in trouble", 6, { '{node="agent2"}': 4 }],
  ["cluster", "Nodes in trouble", 7, { '{node="agent2"}': 1 }],
  ["cluster", "Is the guard blind?", 0, { '{resource="pods"}': 4 }],
  [
    "cluster",
    "Backlog",
    2,
    { '{node="agent2", reason="FiringAlert"}': 3, '{node="agent2", reason="DecisionOpen"}': 2 },
  ],
  ["node", "Restarts", 0, { "{}": 1 }],
  ["node", "Memory of its limit", 0, { "{}": 92 / 96 }],
  ["node", "Waiting calls by class", 0, { '{class="ordinary"}': 73, '{class="critical"}': 0, '{class="detach"}': 2 }],
  // All but 20 of 6,000 waited between one second and sixty.
  ["node", "Time in line, 99th percentile", 0, { '{class="ordinary"}': 1 + 59 * ((5940 - 20) / 5980) }],
  ["node", "Failed checks", 0, { "{}": 0 }],
  ["pod", "Phase", 0, { '{phase="Pending"}': 1 }],
  ["pod", "Has its network", 0, { "{}": 0 }],
  // The seventh of 219 within an hour has a node since minute 1.
  ["pod", "Has had a node for", 0, { "{}": 59 * 60 }],
];
