import { isReady, type Check } from "./check.ts";

interface ReadyzAnswer {
  readonly isReady: boolean;
  readonly text: string;
}

/**
 * The body of `/readyz`, in the lines of the API server's own: `[+]name ok`, `[-]name failed: reason`, and
 * `[!]name degraded: reason` for a warning. A ready node prints only `ok` unless the request is verbose.
 */
export function readyzAnswer(checks: readonly Check[], options: { readonly isVerbose: boolean }): ReadyzAnswer {
  const ready = isReady(checks);
  if (ready && !options.isVerbose) return { isReady: true, text: "ok" };
  const lines = [...checks.map(lineOf), `readyz check ${ready ? "passed" : "failed"}`];
  return { isReady: ready, text: lines.map((line) => `${line}\n`).join("") };
}

function lineOf({ name, state, detail }: Check): string {
  if (state === "ok") return `[+]${name} ok`;
  // Reasons quote files and plugins, so they may have line breaks. One check is one line.
  const reason = detail.replaceAll(/\s+/gu, " ").trim();
  return state === "failed" ? `[-]${name} failed: ${reason}` : `[!]${name} degraded: ${reason}`;
}
