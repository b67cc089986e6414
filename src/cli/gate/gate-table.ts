import { timeMs } from "../../guard/json-values.ts";
import { ageText } from "../terminal/span.ts";
import { renderTable } from "../terminal/table.ts";
import { matchText, type ExceptionView, type GateView } from "./gate-view.ts";

/** Which nodes wait for a reboot, since when, and what for. */
export function gateTable(gates: readonly GateView[], nowMs: number, isWide: boolean): string {
  const headings = ["NODE", "VERDICT", "DUE", "REASONS"];
  const further = ["LOOKED", "EXPIRES", "OBJECTS", "ALLOWED-BY"];
  return renderTable(
    isWide ? [...headings, ...further] : headings,
    gates.map((gate) => [
      gate.node,
      gate.verdict,
      gate.rebootRequiredSince === undefined ? "" : ageText(nowMs - timeMs(gate.rebootRequiredSince)),
      shortReasons(gate),
      ...(isWide ? furtherOf(gate, nowMs) : []),
    ]),
  );
}

export function exceptionTable(exceptions: readonly ExceptionView[], nowMs: number): string {
  return renderTable(
    ["NAME", "MATCH", "BY", "ENDS", "REASON"],
    exceptions.map(({ name, match, by, until, isOver, reason }) => [
      name,
      matchText(match),
      by,
      isOver ? "ended" : `in ${ageText(timeMs(until) - nowMs)}`,
      reason,
    ]),
  );
}

/** An Allow beside reasons is a person's. */
function shortReasons(gate: GateView): string {
  const { verdict, override } = gate;
  const codes = codesText(gate);
  const why =
    verdict === "Allow" && override !== undefined
      ? `allowed by ${override.by}${codes === "" ? "" : ` in spite of ${codes}`}`
      : codes;
  return [why, exceptionWords(gate)].filter((part) => part !== "").join("; ");
}

/** `exception of alice until 2026-06-01T00:00:00Z`; empty where no alert passes by one. */
export function exceptionWords({ exceptions }: Pick<GateView, "exceptions">): string {
  return exceptions.map(({ by, until }) => `exception of ${by} until ${until}`).join(", ");
}

/** `FiringAlert ×3, KuredLockHeld`. */
export function codesText({ reasons }: Pick<GateView, "reasons">): string {
  const groups = [...Map.groupBy(reasons, ({ code }) => code)];
  return groups.map(([code, { length }]) => (length === 1 ? code : `${code} ×${length}`)).join(", ");
}

function furtherOf({ observedAt, expiresAt, reasons, override }: GateView, nowMs: number): readonly string[] {
  const leftMs = expiresAt === undefined ? 0 : timeMs(expiresAt) - nowMs;
  return [
    observedAt === undefined ? "" : `${ageText(nowMs - timeMs(observedAt))} ago`,
    leftMs > 0 ? `in ${ageText(leftMs)}` : "expired",
    [...new Set(reasons.map(({ object }) => object))].join(", "),
    override?.by ?? "",
  ];
}
