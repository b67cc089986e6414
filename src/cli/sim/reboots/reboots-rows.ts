import type { RebootEnd, RebootRecord } from "../../../sim/reboot/reboot-end.ts";
import { openCode } from "../../../sim/reboot/open-code.ts";
import type { CertificateRow } from "../../storm/report/certificate.ts";
import { ageText, tookText } from "../../terminal/span.ts";
import { renderTable } from "../../terminal/table.ts";
import { apiText } from "../sim-rows.ts";

/** As many as a line has room for. */
const reasonsMax = 3;

/** One sentence. */
export function rebootsVerdict({ plan, broken, isInterrupted }: RebootEnd): string {
  if (isInterrupted) return `Levee: ${plan.title}: ended early, this is what was known by then`;
  if (broken.length === 0) return `Levee holds ${plan.title}`;
  return `Levee does not hold ${plan.title}: ${broken.join("; ")}`;
}

/** The figures of the whole fleet. */
export function rebootsRows(end: RebootEnd): readonly CertificateRow[] {
  const { plan, records, closedMs, awayMax, leads, api } = end;
  const openMs = closedMs.get(openCode) ?? 0;
  return [
    ["rebooted", rebootedText(records)],
    ["longest wait", longestText(end)],
    ["gate closed by", heldByText(closedMs, Number.POSITIVE_INFINITY) || "nothing"],
    ["open, not used", openMs === 0 ? "never" : `${ageText(openMs)}, until somebody looked`],
    ["away at once", `${awayMax} of ${plan.nodes.length} nodes; --gate-at-once ${plan.settings.gate.atOnce}`],
    ["guards", `${plan.guards}; one took the lead ${leads === 1 ? "once" : `${leads} times`}`],
    ["API server", apiText(api, "guards and daemons")],
  ];
}

/** Each node's way, in the order in which they were due. */
export function rebootsTable({ records }: RebootEnd, rowsMax: number): string {
  const rows = records
    .slice(0, rowsMax)
    .map((record) => [
      record.node,
      momentOf(record.dueMs),
      momentOf(record.allowedMs),
      momentOf(record.rebootedMs),
      momentOf(record.backMs),
      heldByText(record.heldMs, reasonsMax) || "nothing",
    ]);
  const more = records.length > rowsMax ? `${records.length - rowsMax} more nodes: -o wide, -o json\n` : "";
  return `${renderTable(["NODE", "DUE", "ALLOWED", "REBOOTED", "BACK", "HELD BY"], rows)}${more}`;
}

/** The longest first: `FiringAlert 15m, WaitsForTurn 4m10s`. */
export function heldByText(heldMs: ReadonlyMap<string, number>, reasonsShown: number): string {
  const held = [...heldMs].filter(([code]) => code !== openCode).toSorted(([, one], [, other]) => other - one);
  const more = held.length > reasonsShown ? ` and ${held.length - reasonsShown} more` : "";
  return `${held
    .slice(0, reasonsShown)
    .map(([code, ms]) => `${code} ${ageText(ms)}`)
    .join(", ")}${more}`;
}

function momentOf(ms: number | undefined): string {
  return ms === undefined ? "-" : ageText(ms);
}

function rebootedText(records: readonly RebootRecord[]): string {
  const backs = records.flatMap(({ backMs }) => backMs ?? []).toSorted((one, other) => one - other);
  const [first, last] = [backs[0], backs.at(-1)];
  const whole = `${backs.length} of ${records.length}`;
  return first === undefined || last === undefined
    ? whole
    : `${whole}: the first back after ${tookText(first)}, the last after ${tookText(last)}`;
}

function longestText({ records, simulatedMs }: RebootEnd): string {
  const waits = records
    .filter(({ dueMs }) => dueMs <= simulatedMs)
    .map(({ node, dueMs, backMs }) => ({ node, backMs, ms: (backMs ?? simulatedMs) - dueMs }));
  const longest = waits.toSorted((one, other) => other.ms - one.ms)[0];
  if (longest === undefined) return "none";
  const until = longest.backMs === undefined ? "which still waits" : "from its mark until it was back";
  return `${ageText(longest.ms)}: ${longest.node}, ${until}`;
}
