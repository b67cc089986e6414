import { isReady, type Check } from "./check.ts";

interface ReadyzAnswer {
  readonly isReady: boolean;
  readonly text: string;
}

/**
 * The answer of `/readyz`, line by line as the API server prints its own: `[+]name ok`, `[-]name failed: reason`, and
 * `[!]name degraded: reason` for what does not fail it. A node that is ready says only `ok` unless asked to be verbose.
 */
export function readyzAnswer(checks: readonly Check[], options: { readonly isVerbose: boolean }): ReadyzAnswer {
  const ready = isReady(checks);
  if (ready && !options.isVerbose) return { isReady: true, text: "ok" };
  const lines = [...checks.map(lineOf), `readyz check ${ready ? "passed" : "failed"}`];
  return { isReady: ready, text: lines.map((line) => `${line}\n`).join("") };
}

function lineOf({ name, state, detail }: Check): string {
  if (state === "ok") return `[+]${name} ok`;
  // Reasons quote files and plugins; one check is one line.
  const reason = detail.replaceAll(/\s+/gu, " ").trim();
  return state === "failed" ? `[-]${name} failed: ${reason}` : `[!]${name} degraded: ${reason}`;
}
