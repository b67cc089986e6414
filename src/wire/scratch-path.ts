import type { NetnsPath } from "../base/brand.ts";
import { required, textField, type Frame } from "./frame.ts";
import { readOutcome, type Outcome } from "./outcome.ts";

/** The answer to SCRATCH: the path of the namespace, empty when there is none. */
export function readScratchPath(frame: Frame): { readonly path: NetnsPath | ""; readonly outcome: Outcome } {
  const outcome = readOutcome(frame);
  const isMade = outcome.failure === undefined;
  return { outcome, path: isMade ? (required(textField(frame, "path"), frame, "path") as NetnsPath) : "" };
}
