import { isSame } from "./inventory.ts";
import { mib, type IdleMoment, type SoakOutcome } from "./soak.ts";

/** The figures of a run as lines for people. */
export function soakTable(outcome: SoakOutcome): string {
  const { arrived, attached, refused, deletes, deletesRepeated } = outcome.pods;
  const rows: readonly (readonly [string, string, string, string])[] = [
    ...memoryRows(outcome.memory),
    ["", "start", "end", ""],
    ...outcome.differences.map((one): readonly [string, string, string, string] => [
      one.kind,
      String(one.before),
      String(one.after),
      isSame(one) ? "same" : "DIFFERS",
    ]),
  ];
  return [
    `${outcome.minutes} minutes, pods and networks from ${outcome.source}, seed ${outcome.seed}`,
    `pods: ${arrived} came, ${attached} attached, ${refused} refused; DEL ${deletes} times, of which ${deletesRepeated} had to be repeated`,
    `faults: ${countsText(outcome.faults)}`,
    `refused during a fault that the error names: ${countsText(outcome.refusals)}`,
    "",
    ...rows.map(([name, a, b, c]) => `${name.padEnd(24)} ${a.padStart(9)} ${b.padStart(9)}  ${c}`),
    "",
    ...(outcome.problems.length === 0 ? ["held: everything is as it was"] : outcome.problems.map((one) => `✗ ${one}`)),
  ].join("\n");
}

function memoryRows(memory: SoakOutcome["memory"]): readonly (readonly [string, string, string, string])[] {
  if (memory === undefined) return [["daemon's memory", "", "", "not compared: the run is too short"]];
  const { early, late } = memory;
  return [
    ["", "early", "late", ""],
    ["daemon RSS (MiB)", mib(early.rssBytes), mib(late.rssBytes), percent(early.rssBytes, late.rssBytes)],
    ["daemon anonymous (MiB)", mib(early.anonBytes), mib(late.anonBytes), percent(early.anonBytes, late.anonBytes)],
    ["state folder (KiB)", kib(early.stateBytes), kib(late.stateBytes), ""],
  ];
}

const [left, top, width, height] = [56, 40, 640, 240];

/** Memory of the daemon at the idle moments, over time. */
export function memoryPlot({ idle, minutes }: SoakOutcome): string {
  const most = Math.max(...idle.map(({ rssBytes }) => rssBytes)) * 1.1;
  const endMs = Math.max(minutes * 60_000, ...idle.map(({ atMs }) => atMs));
  const x = (ms: number): string => (left + (ms / endMs) * width).toFixed(1);
  const y = (bytes: number): string => (top + height - (bytes / most) * height).toFixed(1);
  const line = (of: (moment: IdleMoment) => number): string =>
    idle.map((moment) => `${x(moment.atMs)},${y(of(moment))}`).join(" ");
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const bytes = most * part;
    return `<line x1="${left}" y1="${y(bytes)}" x2="${left + width}" y2="${y(bytes)}" class="grid"/><text x="${left - 8}" y="${Number(y(bytes)) + 4}" text-anchor="end">${mib(bytes)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 150} ${top + height + 40}" font-family="system-ui, sans-serif" font-size="13">
<style>text{fill:#57606a}.title{font-weight:600}.grid{stroke:#8c959f;stroke-opacity:.3}</style>
<text x="10" y="22" class="title">Memory of the daemon while idle, in MiB, over ${minutes} minutes with faults</text>
${grid.join("\n")}
<polyline points="${line(({ rssBytes }) => rssBytes)}" fill="none" stroke="#2f81f7" stroke-width="2"/>
<polyline points="${line(({ anonBytes }) => anonBytes)}" fill="none" stroke="#bc4c00" stroke-width="2"/>
<text x="${left + width + 10}" y="${y(idle.at(-1)?.rssBytes ?? 0)}" style="fill:#2f81f7">resident</text>
<text x="${left + width + 10}" y="${y(idle.at(-1)?.anonBytes ?? 0)}" style="fill:#bc4c00">anonymous</text>
<text x="${left}" y="${top + height + 20}">0</text><text x="${left + width}" y="${top + height + 20}" text-anchor="end">${minutes} min</text>
</svg>
`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const texts = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return texts.length === 0 ? "none" : texts.join(", ");
}

function percent(early: number, late: number): string {
  const change = (late / early - 1) * 100;
  return `${change >= 0 ? "+" : ""}${change.toFixed(1)} %`;
}

function kib(bytes: number): string {
  return (bytes / 1_024).toFixed(0);
}
