import type { NetnsPath } from "../base/brand.ts";
import { encodeFrame, required, textField, type Frame } from "./frame.ts";
import { readOutcome, type Outcome } from "./outcome.ts";

/** SCRATCH: the hand makes a network namespace and keeps it for so long. */
export function encodeScratch(step: number, timeoutMs: number): Uint8Array {
  return encodeFrame("SCRATCH", [
    ["step", step],
    ["timeout_ms", Math.max(1, Math.round(timeoutMs))],
  ]);
}

/** The answer to SCRATCH: the path of the namespace, empty when there is none. */
export function readScratchPath(frame: Frame): { readonly path: NetnsPath | ""; readonly outcome: Outcome } {
  const outcome = readOutcome(frame);
  const isMade = outcome.failure === undefined;
  return { outcome, path: isMade ? (required(textField(frame, "path"), frame, "path") as NetnsPath) : "" };
}
