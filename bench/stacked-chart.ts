import { escapeXml } from "./bar-chart.ts";

/** One bar of several parts, from left to right. */
export interface StackedRow {
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly ms: number }[];
}

const barHeight = 22;
const gap = 12;
const labelWidth = 230;
const plotWidth = 460;
/** Light enough for dark pages and dark enough for light ones. */
const colours = ["#8c959f", "#2f81f7", "#d29922"] as const;

/** Where the time goes: a bar per way to do the same work. Readable on light and dark pages. */
export function stackedChart(chart: { readonly title: string; readonly rows: readonly StackedRow[] }): string {
  const wholeOf = ({ parts }: StackedRow): number => parts.reduce((sum, { ms }) => sum + ms, 0);
  const scale = plotWidth / Math.max(...chart.rows.map(wholeOf), 0.001);
  const names = [...new Set(chart.rows.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const colourOf = (name: string): string => colours[names.indexOf(name) % colours.length] ?? colours[0];
  const bars = chart.rows.map((row, index) => {
    const y = 70 + index * (barHeight + gap);
    let x = labelWidth;
    const parts = row.parts.map(({ name, ms }) => {
      const part = `<rect x="${x.toFixed(1)}" y="${y}" width="${(ms * scale).toFixed(1)}" height="${barHeight}" fill="${colourOf(name)}"><title>${escapeXml(name)}: ${ms.toFixed(1)} ms</title></rect>`;
      x += ms * scale;
      return part;
    });
    return [
      `<text x="${labelWidth - 8}" y="${y + 15}" text-anchor="end">${escapeXml(row.label)}</text>`,
      ...parts,
      `<text x="${(x + 6).toFixed(1)}" y="${y + 15}">${wholeOf(row).toFixed(1)} ms</text>`,
    ].join("\n");
  });
  const legend = names.map(
    (name, index) =>
      `<rect x="${labelWidth + index * 190}" y="40" width="12" height="12" fill="${colourOf(name)}"/>\n<text x="${labelWidth + 18 + index * 190}" y="50">${escapeXml(name)}</text>`,
  );
  const height = 80 + chart.rows.length * (barHeight + gap);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${labelWidth + plotWidth + 100} ${height}" font-family="system-ui, sans-serif" font-size="13">
<style>text{fill:#57606a}.title{font-weight:600}</style>
<text x="10" y="22" class="title">${escapeXml(chart.title)}</text>
${[...legend, ...bars].join("\n")}
</svg>
`;
}
