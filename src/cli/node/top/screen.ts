import type { PluginRunsView, MemoryView, TopAnswer, TotalsView } from "../../../wire/top-view.ts";
import { openNetworkText } from "../pod-now-text.ts";
import type { Paint } from "../../terminal/paint.ts";
import { ageText, momentText, tookText } from "../../terminal/span.ts";
import { failureRows } from "./failure-rows.ts";
import { aligned, fitSections, painted, type ScreenLine, type ScreenSection } from "./section.ts";

export interface TopView {
  readonly answer: TopAnswer;
  /** The previous answer, for rates; undefined at first. */
  readonly before: TopAnswer | undefined;
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** Why the numbers are old; empty if they are current. */
  readonly trouble: string;
}

/** The lines of the screen. They are never wider than the terminal; the lists shrink to fit its height. */
export function topScreen(view: TopView): readonly string[] {
  const head = [...headLines(view), ...classLines(view.answer)];
  const lists = sectionsOf(view.answer).filter(({ rows }) => rows.length > 0);
  const lines = [...head, ...fitSections(lists, view.rows - head.length)];
  return lines.slice(0, view.rows).map((line) => painted(line, view.columns, view.paint));
}

function headLines(view: TopView): readonly ScreenLine[] {
  const { answer, trouble } = view;
  const { nodeName, software, attachments, leaks, quarantined, heldPods } = answer;
  const left = [
    `${attachments} attached`,
    ...(heldPods === 0 ? [] : [`${heldPods} held`]),
    ...(leaks === 0 ? [] : [`${leaks} leaks`]),
    ...(quarantined === 0 ? [] : [`${quarantined} damaged records`]),
  ];
  const up = ageText(answer.wallMs - answer.startedWallMs);
  return [
    {
      text: `${momentText(answer.wallMs).slice(11, 19)}  ${nodeName}  ${software}  up ${up}  ${left.join(", ")}`,
      colour: "bold",
    },
    ...(trouble === "" ? [] : [{ text: `! ${trouble}`, colour: "red" as const }]),
    ...answer.notices.map((notice) => ({ text: `! ${notice}`, colour: "yellow" as const })),
    { text: ratesText(view) },
    slotsLine(answer),
    memoryLine(answer.memory, view.columns),
    ...pressureLines(answer),
    { text: "" },
  ];
}

const totalNames: readonly (readonly [keyof TotalsView, string])[] = [
  ["asked", "calls"],
  ["attached", "attached"],
  ["detached", "detached"],
  ["failed", "failed"],
  ["delegates", "plugins"],
];

/** Rates since the previous answer; at first, totals since the start. */
function ratesText({ answer, before }: TopView): string {
  const spanMs = before === undefined ? 0 : answer.monotonicMs - before.monotonicMs;
  const since = (key: keyof TotalsView): number => answer.totals[key] - (before?.totals[key] ?? 0);
  // A restarted daemon counts from zero.
  const isRate = spanMs > 0 && totalNames.every(([key]) => since(key) >= 0);
  const parts = totalNames.map(([key, name]) =>
    isRate ? `${name} ${((since(key) * 1_000) / spanMs).toFixed(1)}/s` : `${name} ${answer.totals[key]}`,
  );
  return `${isRate ? "rates " : "so far"}  ${parts.join("  ")}`;
}

function slotsLine({ slots }: TopAnswer): ScreenLine {
  const { attaching, limit, ceiling, detaching, detachCeiling, hung, why } = slots;
  const { detachLimit = detachCeiling } = slots;
  const hanging = hung === 0 ? "" : `  hung ${hung}`;
  return {
    text: `slots   ADD ${attaching} of ${limit} (ceiling ${ceiling})  DEL ${detaching} of ${detachLimit} (ceiling ${detachCeiling})${hanging}  ${why}`,
    ...(hung === 0 ? {} : { colour: "yellow" as const }),
  };
}

/** What the memory state means for admission. */
const memoryWords = {
  free: "enough",
  frozen: "short: no growth",
  exhausted: "used up: only deletes",
} as const;
const memoryColours = { free: {}, frozen: { colour: "yellow" }, exhausted: { colour: "red" } } as const;

function memoryLine(memory: MemoryView, columns: number): ScreenLine {
  const { usageBytes, limitBytes, oomKills = 0, delegateBytes, delegateBytesMax } = memory;
  const own =
    usageBytes === undefined || limitBytes === undefined
      ? "no limit"
      : `${bar(usageBytes / limitBytes, columns)} ${mib(usageBytes)} of ${mib(limitBytes)} MiB, ${memoryWords[memory.state]}`;
  const kills = oomKills === 0 ? "" : `  ${oomKills} OOM kills`;
  const plugins =
    delegateBytesMax === undefined ? "" : `  plugins ${mib(delegateBytes)} of ${mib(delegateBytesMax)} MiB`;
  return { text: `memory  ${own}${kills}${plugins}`, ...memoryColours[memory.state] };
}

const barColumns = 20;

/** Half as long on a narrow terminal. */
function bar(share: number, columns: number): string {
  const length = columns < 60 ? barColumns / 2 : barColumns;
  const full = Math.max(0, Math.min(length, Math.round(share * length)));
  return `[${"#".repeat(full)}${"-".repeat(length - full)}]`;
}

function mib(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}

function pressureLines({ pressure }: TopAnswer): readonly ScreenLine[] {
  const parts = Object.entries(pressure).map(([name, percent]) => `${name} ${Math.round(percent)} %`);
  return parts.length === 0 ? [] : [{ text: `stalls  ${parts.join("  ")} of the last 10 s` }];
}

function classLines({ classes }: TopAnswer): readonly ScreenLine[] {
  const rows = classes.map((row) => [
    row.class,
    String(row.running),
    String(row.waiting),
    row.waiting === 0 ? "-" : tookText(row.oldestWaitMs),
  ]);
  const [heading = "", ...lines] = aligned([["CLASS", "RUNNING", "WAITING", "OLDEST"], ...rows]);
  return [{ text: heading, colour: "bold" }, ...lines.map((text) => ({ text }))];
}

function sectionsOf(answer: TopAnswer): readonly ScreenSection[] {
  return [
    {
      heading: "HANGING",
      rows: aligned(
        answer.hung.map((one) => [`${one.namespace}/${one.pod}`, one.network, one.plugin, tookText(one.forMs)]),
      ).map((text) => ({ text, colour: "yellow" })),
    },
    {
      heading: "FAILING NETWORKS",
      rows: answer.openNetworks.map((open) => ({ text: `${openNetworkText(open)}: ${open.reason}`, colour: "red" })),
    },
    {
      heading: "IN LINE BY NAMESPACE",
      rows: aligned(
        answer.flows.map(({ namespace, waiting }) => [namespace === "" ? "(none)" : namespace, String(waiting)]),
      ).map((text) => ({ text })),
    },
    tableSection(["SLOWEST PLUGINS", "RUNS", "FAILED", "P50", "P99", "PEAK"], answer.delegates.map(delegateRow)),
    {
      heading: "LAST FAILURES",
      rows: failureRows(answer.failures, answer.wallMs).map((text) => ({ text })),
    },
  ];
}

function tableSection(headings: readonly string[], rows: readonly (readonly string[])[]): ScreenSection {
  const [heading = "", ...lines] = aligned([headings, ...rows]);
  return { heading, rows: lines.map((text) => ({ text })) };
}

function delegateRow({ plugin, verb, runs, failed, p50Ms, p99Ms, maxRssKib }: PluginRunsView): readonly string[] {
  const peak = maxRssKib === 0 ? "-" : `${(maxRssKib / 1024).toFixed(1)} MiB`;
  return [`${plugin} ${verb}`, String(runs), String(failed), tookText(p50Ms), tookText(p99Ms), peak];
}
