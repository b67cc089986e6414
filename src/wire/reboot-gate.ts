import { gateCodes, type GateReason } from "./gate-codes.ts";

/** `RebootGate`, cluster-scoped, named after its node. The guard writes it; whoever reads it judges by `standingVerdict`. */
export interface RebootGate {
  readonly node: string;
  readonly verdict: GateVerdict;
  readonly reasons: readonly GateReason[];
  /** Since when the node has its mark; absent while it has none and only a person's override stands. */
  readonly rebootRequiredSinceMs?: number;
  /** When the guard looked. */
  readonly observedAtMs: number;
  readonly expiresAtMs: number;
  /** Since when the verdict is Allow without a break. */
  readonly allowedSinceMs?: number;
  readonly exceptions: readonly GateException[];
  readonly override?: GateOverride;
}

const gateVerdicts = ["Allow", "Deny", "Unknown"] as const;

type GateVerdict = (typeof gateVerdicts)[number];

/** A RebootException that let at least one firing alert pass. */
interface GateException {
  readonly name: string;
  readonly by: string;
  readonly reason: string;
  readonly untilMs: number;
}

/** A person's word that the node may be rebooted in spite of all reasons. */
export interface GateOverride {
  /** The DecisionApproval. */
  readonly name: string;
  readonly by: string;
  readonly reason: string;
  readonly untilMs: number;
}

export const gateApiVersion = "levee.dev/v1alpha1";
export const gatesPath = `/apis/${gateApiVersion}/rebootgates`;

/** Undefined for an object without a name or a known verdict, and for one with unreadable times: that is no gate. */
export function parseRebootGate(value: unknown): RebootGate | undefined {
  const status = fields(fields(value)["status"]);
  const node = text(fields(fields(value)["metadata"])["name"]);
  const verdict = gateVerdicts.find((one) => one === status["verdict"]);
  const observedAtMs = time(status["observedAt"]);
  const expiresAtMs = time(status["expiresAt"]);
  if (node === "" || verdict === undefined || observedAtMs === undefined || expiresAtMs === undefined) return undefined;
  const dueMs = time(status["rebootRequiredSince"]);
  const allowedSinceMs = time(status["allowedSince"]);
  return {
    node,
    verdict,
    reasons: list(status["reasons"]).flatMap(reasonOf),
    observedAtMs,
    expiresAtMs,
    exceptions: list(status["exceptions"]).map(wordOf),
    ...(dueMs === undefined ? {} : { rebootRequiredSinceMs: dueMs }),
    ...(allowedSinceMs === undefined ? {} : { allowedSinceMs }),
    ...(status["override"] === undefined ? {} : { override: wordOf(status["override"]) }),
  };
}

/** The object as the API server keeps it. An absent field is undefined, so that a merge patch can take it away. */
export function rebootGateObject(
  gate: RebootGate,
  leader: { readonly identity: string; readonly fence: number },
): object {
  return {
    apiVersion: gateApiVersion,
    kind: "RebootGate",
    metadata: { name: gate.node },
    status: {
      verdict: gate.verdict,
      summary: gateSummary(gate),
      reasons: gate.reasons.map(({ sinceMs, ...reason }) => ({ ...reason, since: timeOf(sinceMs) })),
      rebootRequiredSince: gate.rebootRequiredSinceMs === undefined ? undefined : timeOf(gate.rebootRequiredSinceMs),
      allowedSince: gate.allowedSinceMs === undefined ? undefined : timeOf(gate.allowedSinceMs),
      observedAt: timeOf(gate.observedAtMs),
      expiresAt: timeOf(gate.expiresAtMs),
      exceptions: gate.exceptions.map(wordObject),
      override: gate.override === undefined ? undefined : wordObject(gate.override),
      leader: leader.identity,
      fence: leader.fence,
    },
  };
}

/** `FiringAlert ×3, KuredLockHeld; 1 exception`: the column of `kubectl get rebootgates`. */
export function gateSummary(gate: Pick<RebootGate, "reasons" | "override" | "exceptions">): string {
  const { length } = gate.exceptions;
  const exceptions = length === 0 ? "" : `${length} exception${length === 1 ? "" : "s"}`;
  return [codesAndOverride(gate), exceptions].filter((part) => part !== "").join("; ");
}

function codesAndOverride({ reasons, override }: Pick<RebootGate, "reasons" | "override">): string {
  const counts = new Map<string, number>();
  for (const { code } of reasons) counts.set(code, (counts.get(code) ?? 0) + 1);
  const codes = [...counts].map(([code, count]) => (count === 1 ? code : `${code} ×${count}`)).join(", ");
  if (override === undefined) return codes;
  return codes === "" ? `allowed by ${override.by}` : `allowed by ${override.by} in spite of ${codes}`;
}

function reasonOf(value: unknown): readonly GateReason[] {
  const reason = fields(value);
  const code = gateCodes.find((one) => one === reason["code"]);
  if (code === undefined) return [];
  const { message, object, remedy } = reason;
  return [
    { code, message: text(message), object: text(object), remedy: text(remedy), sinceMs: time(reason["since"]) ?? 0 },
  ];
}

function wordOf(value: unknown): GateOverride & GateException {
  const { name, by, reason, until } = fields(value);
  return { name: text(name), by: text(by), reason: text(reason), untilMs: time(until) ?? 0 };
}

function wordObject({ untilMs, ...word }: GateException | GateOverride): object {
  return { ...word, until: timeOf(untilMs) };
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}; // every field is checked where it is read
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function time(value: unknown): number | undefined {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/u, "Z");
}
