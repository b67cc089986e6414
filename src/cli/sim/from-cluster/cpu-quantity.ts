import { textOf } from "../../../kube/client/json-fields.ts";

/** Thousandths of a core in a quantity of the API server, such as `4`, `3920m` or `0.5`; undefined for anything else. */
export function cpuMillisOf(value: unknown): number | undefined {
  const text = typeof value === "number" ? String(value) : textOf(value);
  const [, digits, unit] = /^(\d{1,9}(?:\.\d{1,9})?)(m?)$/u.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const millis = unit === "m" ? Number(digits) : 1_000 * Number(digits);
  return millis > 0 ? millis : undefined;
}
