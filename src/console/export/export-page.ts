import { escapeHtml, plainText } from "../../base/plain-text.ts";
import type { ConsoleSnapshot, RebootWord } from "../../wire/console-view.ts";
import { exportCard } from "./export-card.ts";
import { exportStyle } from "./export-style.ts";
import { stormDrawing } from "./storm-drawing.ts";

/** Rows of a table; the page is for a mail, and the console has all. */
const rowsMax = 100;

/** One file for a mail or a ticket: no script, nothing to load, and nothing that can be pressed. */
export function exportPage(snapshot: ConsoleSnapshot): string {
  const { asOfMs, viewer, now } = snapshot;
  const asOf = momentOf(asOfMs);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Levee, as of ${asOf}</title>
<style>${exportStyle}</style>
</head>
<body>
<header><h1>Levee</h1><p>as of ${asOf} · ${text(viewer.place)}${viewer.name === "" ? "" : ` · seen by ${text(viewer.name)}`}</p></header>
<main>
<section aria-label="Now"><p class="now ${now.state}">${text(now.text)}</p>
${list(now.reasons.map((reason) => `${text(reason.text)} <code>${text(reason.command)}</code>`))}</section>
${decisionSection(snapshot)}
${nodeSection(snapshot)}
${stormSection(snapshot)}
${rebootSection(snapshot)}
${sourceSection(snapshot)}
</main>
</body>
</html>
`;
}

function decisionSection({ decisions, alerts }: ConsoleSnapshot): string {
  const open = decisions.filter(({ isOpen }) => isOpen);
  const ended = decisions.length - open.length;
  const sums =
    alerts.firing === undefined ? "" : `<p>${alerts.firing} alerts firing, ${alerts.explained ?? 0} explained</p>`;
  const none = open.length === 0 ? "<p>No Decision is open.</p>" : "";
  const rest = ended === 0 ? "" : `<p>${ended} more have ended: <code>levee decisions list</code></p>`;
  return `<section><h2>Decisions</h2>${sums}${none}${open.map(exportCard).join("")}${rest}</section>`;
}

function nodeSection({ nodes }: ConsoleSnapshot): string {
  const troubled = nodes.filter(({ state }) => state !== "ok");
  const rows = troubled.slice(0, rowsMax).map(({ name, state, why = [] }) => [name, state, why.join("; ")]);
  return `<section><h2>Nodes</h2><p>${nodes.length} nodes, ${troubled.length} not ok</p>${table(["Node", "State", "Why"], rows)}${more(troubled.length)}</section>`;
}

function stormSection({ storm }: ConsoleSnapshot): string {
  const last = storm.points.at(-1);
  const rows = storm.waiting
    .slice(0, rowsMax)
    .map(({ namespace, pod, node, sinceMs }) => [`${namespace}/${pod}`, node, momentOf(sinceMs)]);
  const head = last === undefined ? "" : `<p>${last.waiting} pods without a network, ${last.attached} with one</p>`;
  return `<section><h2>Storm</h2>${head}${stormDrawing(storm)}${table(["Waiting pod", "Node", "Since"], rows)}</section>`;
}

function rebootSection({ reboots }: ConsoleSnapshot): string {
  const rows = reboots
    .slice(0, rowsMax)
    .map(({ node, sinceMs, verdict = "no gate", reasons, override, exceptions = [] }) => {
      const said = [
        ...reasons.map(({ message, remedy }) => `${message} (${remedy})`),
        ...(override === undefined ? [] : [`allowed by ${wordText(override)}`]),
        ...exceptions.map((word) => `alerts pass by an exception of ${wordText(word)}`),
      ];
      return [node, momentOf(sinceMs), verdict, said.join("; ")];
    });
  const none = rows.length === 0 ? "<p>No node waits for a reboot.</p>" : "";
  return `<section><h2>Reboots</h2>${none}${table(["Node", "Due since", "Gate", "Why"], rows)}${more(reboots.length)}</section>`;
}

function wordText({ by, reason, untilMs }: RebootWord): string {
  return `${by} until ${momentOf(untilMs)}: ${reason}`;
}

function sourceSection({ sources }: ConsoleSnapshot): string {
  const rows = sources
    .filter(({ state, why }) => state !== "live" && (state !== "absent" || why !== ""))
    .map(({ name, state, asOfMs, why }) => [name, state, asOfMs === 0 ? "never" : momentOf(asOfMs), why]);
  return rows.length === 0
    ? ""
    : `<section><h2>What could not be read</h2>${table(["What", "State", "As of", "Why"], rows)}</section>`;
}

function more(total: number): string {
  return total > rowsMax ? `<p>and ${total - rowsMax} more</p>` : "";
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const head = heads.map((cell) => `<th scope="col">${text(cell)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${text(cell)}</td>`).join("")}</tr>`).join("");
  return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Items are markup already. */
function list(items: readonly string[]): string {
  return items.length === 0 ? "" : `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
}

function text(value: string): string {
  return escapeHtml(plainText(value));
}

function momentOf(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace("T", " ")
    .replace(/\.\d+Z$/u, " UTC");
}
