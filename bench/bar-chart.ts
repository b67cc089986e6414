import type { TimedRow } from "./timed-row.ts";

const barHeight = 22;
const gap = 10;
const labelWidth = 300;
const plotWidth = 420;

/** A horizontal bar per row: the median, with a thin line to the 90th percentile. Readable on light and dark pages. */
export function barChart(cell: {
  readonly title: string;
  readonly unit: string;
  readonly rows: readonly TimedRow[];
}): string {
  const largest = Math.max(...cell.rows.map((row) => row.p90), 0.001);
  const scale = (value: number): number => (value / largest) * plotWidth;
  const height = 50 + cell.rows.length * (barHeight + gap);
  const bars = cell.rows.map((row, index) => {
    const y = 44 + index * (barHeight + gap);
    const middle = y + barHeight / 2;
    return [
      `<text x="${labelWidth - 8}" y="${middle + 4}" text-anchor="end">${escapeXml(row.label)}</text>`,
      `<rect x="${labelWidth}" y="${y}" width="${scale(row.median).toFixed(1)}" height="${barHeight}" rx="3" class="${isOurs(row.label) ? "ours" : "theirs"}"/>`,
      `<line x1="${(labelWidth + scale(row.median)).toFixed(1)}" y1="${middle}" x2="${(labelWidth + scale(row.p90)).toFixed(1)}" y2="${middle}"/>`,
      `<text x="${(labelWidth + scale(row.p90) + 6).toFixed(1)}" y="${middle + 4}">${row.median.toFixed(1)} ${cell.unit}</text>`,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${labelWidth + plotWidth + 100} ${height}" font-family="system-ui, sans-serif" font-size="13">
<style>text{fill:#57606a}.title{font-weight:600}.ours{fill:#2f81f7}.theirs{fill:#8c959f}line{stroke:#57606a}</style>
<text x="10" y="22" class="title">${escapeXml(cell.title)}</text>
${bars.join("\n")}
</svg>
`;
}

function isOurs(label: string): boolean {
  return label.toLowerCase().includes("levee");
}

export function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
