/** When the pods of one contender were attached, in order. */
export interface Curve {
  readonly label: string;
  readonly attachedAtMs: readonly number[];
}

export interface TimeLine {
  readonly title: string;
  readonly pods: number;
  readonly curves: readonly Curve[];
  /** The counted thing; the default is `pods attached`. */
  readonly what?: string;
}

const left = 60;
const top = 44;
const width = 560;
const height = 260;
const legendWidth = 260;
const colours = ["#8c959f", "#2f81f7", "#cf222e", "#bc4c00", "#8250df"];
/** Round steps of an axis, and their maximum number. */
const niceSteps = [1, 2, 5];
const stepsMax = 6;

/** Attached pods over time, one line per contender, so that a contender that makes no progress is visible. */
export function timeLine({ title, pods, curves, what = "pods attached" }: TimeLine): string {
  const lastS = Math.max(1, ...curves.flatMap(({ attachedAtMs }) => attachedAtMs.map((ms) => ms / 1000)));
  const stepS = niceStep(lastS);
  const endS = Math.ceil(lastS / stepS) * stepS;
  const x = (ms: number): string => (left + (ms / 1000 / endS) * width).toFixed(1);
  const y = (count: number): string => (top + height - (count / pods) * height).toFixed(1);
  const axis = Array.from({ length: Math.round(endS / stepS) + 1 }, (_, step) => step * stepS).map(
    (at) =>
      `<line x1="${x(at * 1000)}" y1="${top}" x2="${x(at * 1000)}" y2="${top + height}" class="grid"/><text x="${x(at * 1000)}" y="${top + height + 18}" text-anchor="middle">${at} s</text>`,
  );
  const counts = [0, Math.round(pods / 2), pods].map(
    (count) =>
      `<line x1="${left}" y1="${y(count)}" x2="${left + width}" y2="${y(count)}" class="grid"/><text x="${left - 8}" y="${Number(y(count)) + 4}" text-anchor="end">${count}</text>`,
  );
  const lines = curves.map(({ label, attachedAtMs }, index) => {
    const colour = colours[index % colours.length];
    const steps = attachedAtMs.map((ms, done) => `L${x(ms)} ${y(done)} L${x(ms)} ${y(done + 1)}`).join(" ");
    const path = `M${left} ${y(0)} ${steps} L${left + width} ${y(attachedAtMs.length)}`;
    const middle = top + 12 + index * 20;
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="${index === 1 ? 2.5 : 1.5}"/>
<rect x="${left + width + 16}" y="${middle - 9}" width="12" height="12" rx="2" fill="${colour}"/><text x="${left + width + 34}" y="${middle + 2}">${escapeXml(label)}: ${attachedAtMs.length}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + legendWidth} ${top + height + 40}" font-family="system-ui, sans-serif" font-size="13">
<style>text{fill:#57606a}.title{font-weight:600}.grid{stroke:#8c959f;stroke-opacity:.3}</style>
<text x="10" y="22" class="title">${escapeXml(title)}: ${escapeXml(what)}</text>
${[...axis, ...counts, ...lines].join("\n")}
</svg>
`;
}

function niceStep(most: number): number {
  for (let scale = 0.1; ; scale *= 10) {
    for (const nice of niceSteps) {
      const step = nice * scale;
      if (most / step <= stepsMax) return Math.round(step * 10) / 10;
    }
  }
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
