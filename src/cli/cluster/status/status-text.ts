import { oneLine } from "../../../base/plain-text.ts";
import { gateWords } from "../../gate/reboot-backlog.ts";
import { plural } from "../../terminal/plural.ts";
import { signOf } from "../../check/node-report-text.ts";
import type { Paint } from "../../terminal/paint.ts";
import { ageText } from "../../terminal/span.ts";
import type { DaemonView, StatusPart, StatusView } from "./status-view.ts";

/** The status must fit on one screen. */
const rowsMax = 5;
const labelColumns = 12;

export function statusText(view: StatusView, nowMs: number, paint: Paint): string {
  const blocks: readonly (readonly [string, readonly string[]])[] = [
    ["Levee", [summaryOf(view, paint)]],
    ["Daemons", unseen(view, "daemons") ?? daemonRows(view.daemons, paint)],
    ["Nodes", unseen(view, "nodes") ?? nodeRows(view)],
    ["Guard", unseen(view, "guard") ?? [guardRow(view, paint)]],
    ["Decisions", unseen(view, "decisions") ?? decisionRows(view, nowMs)],
    ["Reboots", rebootRows(view, nowMs)],
    ["Pods", unseen(view, "pods") ?? podRows(view, paint)],
    ["Alerts", alertRows(view)],
    ["Rights", rightsRows(view)],
    ["Failed", checkRows(view.failed)],
    ["Warnings", checkRows(view.warnings)],
  ];
  return blocks
    .filter(([, rows]) => rows.length > 0)
    .map(([label, rows]) => rows.map((row, at) => `${(at === 0 ? label : "").padEnd(labelColumns)} ${row}\n`).join(""))
    .join("");
}

/** The row for a part that could not be read; undefined for other parts. One that was refused has no row of its own. */
function unseen({ unknown, refused }: StatusView, part: StatusPart): readonly string[] | undefined {
  if (refused.includes(part)) return [];
  const why = unknown[part];
  return why === undefined ? undefined : [`not known: ${oneLine(why)}`];
}

/** An approver's role shows Decisions and no more. */
function rightsRows({ refused }: StatusView): readonly string[] {
  if (refused.length === 0) return [];
  const line = "kubectl create clusterrolebinding NAME --clusterrole=levee-viewer --user=USER";
  return [`this user may not see ${refused.join(", ")}: ${line}`];
}

export function isWell({ failed }: StatusView): boolean {
  return Object.keys(failed).length === 0;
}

function summaryOf(view: StatusView, paint: Paint): string {
  const failures = Object.keys(view.failed).length;
  const warnings = Object.keys(view.warnings).length;
  const state = failures > 0 ? "failed" : warnings > 0 ? "warning" : "ok";
  const text =
    failures + warnings === 0 ? "all is well" : `${failures} failed, ${plural(warnings, "warning")}: levee check`;
  return `${signOf(state, paint)} ${text}   Kubernetes ${oneLine(view.server)}`;
}

function daemonRows(daemons: readonly DaemonView[], paint: Paint): readonly string[] {
  if (daemons.length === 0) return ["neither Levee nor Multus is installed"];
  const columns = Math.max(...daemons.map(({ namespace, name }) => namespace.length + name.length + 1));
  return daemons.map(({ namespace, name, is, ready, desired, killed }) => {
    const sign = signOf(ready < desired ? "failed" : killed > 0 ? "warning" : "ok", paint);
    const kills = killed === 0 ? "" : `, ${killed} killed for memory in the last hour`;
    return `${sign} ${`${namespace}/${name}`.padEnd(columns)}   ${is}, ${ready} of ${desired} ready${kills}`;
  });
}

function nodeRows({ nodes }: StatusView): readonly string[] {
  const troubled = Object.entries(nodes.trouble);
  const rows = troubled.map(([node, reasons]) => `${oneLine(node)}: ${reasons.join(", ")}`);
  return [`${nodes.total}, ${troubled.length} with trouble`, ...some(rows)];
}

function guardRow({ guard }: StatusView, paint: Paint): string {
  if (guard === undefined) return "not installed";
  const { desired, available, leader, term } = guard;
  const state = leader === "" ? "failed" : available < desired ? "warning" : "ok";
  const led = leader === "" ? "no guard leads" : `${oneLine(leader)} leads (term ${term})`;
  return `${signOf(state, paint)} ${available} of ${desired} replicas, ${led}`;
}

function decisionRows({ decisions }: StatusView, nowMs: number): readonly string[] {
  const rows = decisions.map(({ name, phase, step, sinceMs, message, about }) => {
    const at = step === "" ? "" : ` (${step})`;
    const what = about === "" ? "" : `, about ${about}`;
    return oneLine(`${name} ${phase}${at} for ${ageText(nowMs - sinceMs)}${what}: ${message}`);
  });
  return rows.length === 0 ? ["none open"] : [`${rows.length} open: levee decisions show NAME`, ...some(rows)];
}

/** No row where no node waits: most days. */
function rebootRows({ reboots }: StatusView, nowMs: number): readonly string[] {
  const rows = reboots.map((one) => oneLine(`${one.node} for ${ageText(nowMs - one.sinceMs)}${gateWords(one)}`));
  return rows.length === 0 ? [] : [`${plural(rows.length, "node")} waiting: levee gate why NODE`, ...some(rows)];
}

function podRows({ avalanches, backlog }: StatusView, paint: Paint): readonly string[] {
  const rows = [
    ...avalanches.map(
      ({ namespace, pods, nodes }) =>
        `${signOf("failed", paint)} ${oneLine(namespace)}: an avalanche of ${pods} ownerless pods on ${plural(nodes, "node")}`,
    ),
    ...Object.entries(backlog).map(
      ([namespace, count]) => `${oneLine(namespace)}: ${plural(count, "pod")} not starting`,
    ),
  ];
  return rows.length === 0 ? ["no backlog"] : some(rows);
}

/** Who may not see pods may not look for an Alertmanager either. */
function alertRows(view: StatusView): readonly string[] {
  return view.alerts === undefined && view.refused.includes("pods") ? [] : [alertRow(view)];
}

function alertRow({ alerts, alertsUnknown }: StatusView): string {
  if (alerts === undefined) return `not known: ${oneLine(alertsUnknown)}`;
  const rows = Object.entries(alerts).map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
  const shown = rows.slice(0, 2 * rowsMax).join(", ");
  const more = rows.length > 2 * rowsMax ? `, and ${rows.length - 2 * rowsMax} more` : "";
  return rows.length === 0 ? "none firing" : oneLine(`${shown}${more}`);
}

function checkRows(lines: Readonly<Record<string, string>>): readonly string[] {
  return some(Object.entries(lines).map(([code, text]) => oneLine(`${code} ${text}`)));
}

function some(rows: readonly string[]): readonly string[] {
  return rows.length <= rowsMax ? rows : [...rows.slice(0, rowsMax), `and ${rows.length - rowsMax} more`];
}
