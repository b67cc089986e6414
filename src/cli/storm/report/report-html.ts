import { escapeHtml, plainText } from "../../../base/plain-text.ts";
import { isHeld, nodeRows, runRows, verdictText, type Certificate, type CertificateRow } from "./certificate.ts";
import { stormPlanText } from "../plan.ts";
import { plotFigure } from "./plot.ts";
import { runPlots } from "./run-plots.ts";
import type { StormRun } from "../verdict.ts";

/** The certificate as a self-contained page, without scripts, fonts or pictures from elsewhere. */
export function reportHtml(certificate: Certificate): string {
  const body = `${certificate.warnings.map((warning) => `<p class="warning">${escapeHtml(warning)}</p>`).join("\n")}
${certificate.runs
  .toReversed()
  .map((run, at) => runSection(run, at === 0))
  .join("\n")}
<h2>The node</h2>
${rowsTable(nodeRows(certificate.node))}`;
  return stormPage({
    isGood: isHeld(certificate),
    kind: "A storm, rehearsed",
    verdict: `Levee ${verdictText(certificate)}`,
    body,
  });
}

interface StormPage {
  readonly isGood: boolean;
  readonly kind: string;
  readonly verdict: string;
  /** HTML. */
  readonly body: string;
}

/** A page about one storm. */
export function stormPage({ isGood, kind, verdict: text, body }: StormPage): string {
  const verdict = escapeHtml(plainText(text));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${verdict}</title>
<style>${style}</style>
</head>
<body>
<header class="${isGood ? "good" : "bad"}">
<p>${escapeHtml(kind)}</p>
<h1>${isGood ? "✓" : "×"} ${verdict}</h1>
</header>
<main>
${body}
</main>
</body>
</html>
`;
}

/** The newest storm is open; earlier ones can be opened. */
function runSection(run: StormRun, isOpen: boolean): string {
  const word = run.broken.length === 0 ? "held" : "did not hold";
  return `<details${isOpen ? " open" : ""}>
<summary>${escapeHtml(stormPlanText(run.plan))}: ${word}</summary>
${run.broken.length === 0 ? "" : `<ul class="broken">${run.broken.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul>`}
<div class="plots">
${runPlots(run).map(plotFigure).join("\n")}
</div>
${rowsTable(runRows(run))}
</details>`;
}

export function rowsTable(rows: readonly CertificateRow[]): string {
  const lines = rows.map(
    ([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(plainText(value))}</td></tr>`,
  );
  return `<table>${lines.join("\n")}</table>`;
}

/** Colour-blind people can tell these colours apart, on white and on black. */
const style = `
:root{--ink:#1f2328;--soft:#59636e;--page:#fff;--card:#f6f8fa;--grid:#d8dee4;--first:#0969da;--second:#bc4c00;--third:#8250df;--limit:#cf222e;--good:#1a7f37;--bad:#cf222e}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--page:#0d1117;--card:#151b23;--grid:#30363d;--first:#58a6ff;--second:#f0883e;--third:#bc8cff;--limit:#ff7b72;--good:#3fb950;--bad:#ff7b72}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
header,main{max-width:1120px;margin:0 auto;padding:0 20px}
header{padding-top:28px}
header p{margin:0;color:var(--soft)}
h1{margin:4px 0 20px;font-size:24px;line-height:1.3}
h2{font-size:18px;margin:28px 0 8px}
.good h1{color:var(--good)}.bad h1{color:var(--bad)}
.warning{border-left:3px solid var(--second);padding:4px 12px;background:var(--card);overflow-wrap:anywhere}
summary{font-weight:600;font-size:18px;margin:12px 0;cursor:pointer}
.broken{color:var(--bad)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:16px;margin-bottom:16px}
figure{margin:0;padding:12px;background:var(--card);border-radius:8px}
figcaption{font-weight:600}
.legend{display:block;font-weight:400;color:var(--soft);min-height:1.5em}
.key{margin-right:14px;white-space:nowrap}
.key::before{content:"";display:inline-block;width:14px;height:3px;margin-right:6px;vertical-align:middle;background:currentColor}
.key.first::before{background:var(--first)}.key.second::before{background:var(--second)}.key.third::before{background:var(--third)}.key.limit::before{background:var(--limit)}
svg{width:100%;height:auto;display:block}
svg text{fill:var(--soft);font-size:11px;paint-order:stroke;stroke:var(--card);stroke-width:3px}
.grid{stroke:var(--grid)}
.mark{stroke:var(--soft);stroke-dasharray:3 4}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.line.first{stroke:var(--first)}.line.second{stroke:var(--second)}.line.third{stroke:var(--third)}.line.limit{stroke:var(--limit);stroke-dasharray:6 4}
.area{fill:var(--first);opacity:.14}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid var(--grid);overflow-wrap:anywhere}
th{font-weight:400;color:var(--soft);white-space:nowrap;width:1%}
main{padding-bottom:40px}
`;
