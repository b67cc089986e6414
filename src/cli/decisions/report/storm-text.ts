import { timeText } from "../../../guard/json-values.ts";
import { ageText } from "../../terminal/span.ts";
import { codeBlock, list, md, table } from "./markdown.ts";
import type { StormTale } from "./storm-tale.ts";

/** More are in the flight recorder: levee why POD. */
const namedMax = 10;

/** The post-mortem of a storm that Levee held by itself. It has only what the flight recorder of one node holds. */
export function stormText(tale: StormTale, node: string): string {
  const { pods, fromMs, toMs } = tale;
  const sections: readonly (readonly [string, string])[] = [
    ["Summary", `${summaryOf(tale, node)}\n`],
    ["Timeline", table(["when", "what"], timelineOf(tale))],
    ["Root cause (chain)", chainOf(tale)],
    [
      "What failed",
      table(
        ["times", "why"],
        tale.failures.slice(0, namedMax).map(([why, times]) => [String(times), md(why)]),
      ),
    ],
    ["What was done", list(doneBy(tale))],
    ["Numbers", table(["number", "of what"], numbersOf(tale))],
    ["What to do next", list(nextOf(tale))],
  ];
  const head = table(
    ["Field", "Value"],
    [
      ["**Date**", timeText(fromMs).slice(0, 10)],
      ["**Duration**", `${timeText(fromMs)} to ${timeText(toMs)} (${ageText(toMs - fromMs)})`],
      ["**Affected**", `${pods} pods of ${tale.namespaces.length} namespaces on ${md(node)}`],
      ["**Status**", "Over: Levee held it, and no Decision was needed"],
    ],
  );
  const body = sections.map(([title, text]) => `## ${title}\n\n${text === "" ? "Nothing.\n" : text}`);
  return `# Post-mortem: a storm of ${pods} pods on ${md(node)}\n\n${head}\n${body.join("\n")}`;
}

function summaryOf({ pods, namespaces, lineMax, waitsMs, attached, fromMs, toMs }: StormTale, node: string): string {
  const [first] = namespaces;
  const most = first === undefined ? "" : ` Most of them, ${first[1]}, are of ${md(first[0])}.`;
  const line = lineMax === 0 ? "" : ` At most ${lineMax} stood in line at once.`;
  const longest = waitsMs.at(-1);
  const wait = longest === undefined ? "" : ` The longest wait for a turn was ${ageText(longest)}.`;
  return `Within ${ageText(toMs - fromMs)} ${pods} pods asked for their network on ${md(node)} faster than its plugins could serve them.${most}${line}${wait} ${attached} of them got their network in that time. No pod was removed, and no limit was changed.`;
}

function timelineOf({ fromMs, toMs, moments }: StormTale): readonly (readonly string[])[] {
  return [
    { atMs: fromMs, what: "The first pod had to wait", detail: "" },
    ...moments,
    { atMs: toMs, what: "The last pod left the line", detail: "" },
  ]
    .toSorted((left, right) => left.atMs - right.atMs)
    .map(({ atMs, what, detail }) => [timeText(atMs), md(detail === "" ? what : `${what}: ${detail}`)]);
}

function chainOf({ namespaces, pods, lineMax, oomKills, held }: StormTale): string {
  const from = namespaces.slice(0, 3).map(([namespace, count]) => `${count} of ${namespace}`);
  const lines = [
    `${pods} pods start at once (${from.join(", ")})`,
    "→ kubelet asks for the network of each, and again after each failure",
    `→ Levee lets as many through as the node bears; the others wait in line${lineMax === 0 ? "" : ` (up to ${lineMax})`}`,
    ...(oomKills === 0 ? [] : [`→ the kernel kills ${oomKills} plugins for memory; Levee lets fewer run at once`]),
    ...(held === 0 ? [] : [`→ ${held} pods fail and are answered from memory, so that they cost nothing`]),
    "→ the line empties",
  ];
  return codeBlock(lines).replace("```sh", "```text");
}

function doneBy({ waitsMs, held, holdMsMax, attached }: StormTale): readonly string[] {
  return [
    `Levee put the pods in line and let ${waitsMs.length} through in turn; ${attached} got their network.`,
    ...(held === 0 ? [] : [`It held ${held} failing pods back, for up to ${ageText(holdMsMax)} each.`]),
    "Nobody did anything by hand that the flight recorder could tell of.",
  ];
}

function numbersOf({ pods, lineMax, waitsMs, attached, held, oomKills, hung, leaks }: StormTale): string[][] {
  const at = (share: number): string => ageText(waitsMs[Math.floor((waitsMs.length - 1) * share)] ?? 0);
  const rows: readonly (readonly [number | string, string])[] = [
    [pods, "pods that waited"],
    [lineMax, "most in line at once"],
    [waitsMs.length, "turns that were given"],
    ...(waitsMs.length === 0
      ? []
      : ([
          [at(0.5), "half of the waits were shorter"],
          [at(1), "longest wait"],
        ] as const)),
    [attached, "pods that got their network"],
    [held, "pods that failed and were held back"],
    [oomKills, "plugins killed for memory"],
    [hung, "plugins that hung"],
    [leaks, "things left behind (levee leaks)"],
  ];
  return rows.map(([value, what]) => [String(value), what]);
}

function nextOf({ namespaces, failures, oomKills, leaks }: StormTale): readonly string[] {
  const [first] = namespaces;
  return [
    ...(first === undefined ? [] : [`Find out what started ${first[1]} pods of ${md(first[0])} at once`]),
    ...(failures.length === 0 ? [] : ["Repair what failed; levee why NAMESPACE/POD tells the story of one pod"]),
    ...(oomKills === 0 ? [] : ["Give the runtime's cgroup more memory, or lower attachCeiling"]),
    ...(leaks === 0 ? [] : ["levee leaks shows what is left behind"]),
    "Name what the site depends on in criticalPods, so that it goes first next time",
  ];
}
