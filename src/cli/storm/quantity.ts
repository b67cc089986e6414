import { usageFailure } from "../failure.ts";

const byteUnits: Readonly<Record<string, number>> = {
  "": 1,
  "k": 1000,
  "M": 1000 ** 2,
  "G": 1000 ** 3,
  "Ki": 1024,
  "Mi": 1024 ** 2,
  "Gi": 1024 ** 3,
};
const timeUnits: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export function parseBytes(option: string, text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,15})([A-Za-z]{0,2})$/u.exec(text) ?? [];
  const factor = Object.hasOwn(byteUnits, unit) ? byteUnits[unit] : undefined;
  if (digits === "" || factor === undefined)
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as ${option}: it must be a number of bytes, or one with Ki, Mi or Gi`,
      `${option} 50Mi`,
    );
  return Number(digits) * factor;
}

/** Thousandths of a core. */
export function parseCpu(option: string, text: string): number {
  const millis = /^\d{1,6}m$/u.test(text) ? Number(text.slice(0, -1)) : Math.round(Number(text) * 1000);
  if (!/^(?:\d{1,6}m|\d{1,3}(?:\.\d{1,3})?)$/u.test(text) || millis < 1)
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as ${option}: it must be a number of cores, or thousandths of one with m`,
      `${option} 100m`,
    );
  return millis;
}

export function parseSpan(option: string, text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m|h)$/u.exec(text) ?? [];
  if (digits === "")
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as ${option}: it must be a time with its unit, ms, s, m or h`,
      `${option} 2s`,
    );
  return Number(digits) * (timeUnits[unit] ?? 1);
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly example?: number;
}

export function parseCount(option: string, text: string, { min, max, example = 219 }: Bounds): number {
  const count = /^\d{1,9}$/u.test(text) ? Number(text) : Number.NaN;
  if (!(count >= min && count <= max))
    throw usageFailure(
      `Cannot use ${JSON.stringify(text)} as ${option}: it must be a whole number from ${min} to ${max}`,
      `${option} ${Math.min(max, Math.max(min, example))}`,
    );
  return count;
}

export function mibText(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}

/** As in a manifest, such as 50Mi. */
export function bytesText(bytes: number): string {
  const unit = (["Gi", "Mi", "Ki"] as const).find((name) => bytes % (byteUnits[name] ?? 1) === 0 && bytes > 0);
  return unit === undefined ? `${bytes}` : `${bytes / (byteUnits[unit] ?? 1)}${unit}`;
}
