import type { NetnsPath } from "../base/brand.ts";
import type { Outcome } from "../wire/outcome.ts";
import { requireDone } from "./refusal.ts";

/** A network namespace that the resident hand keeps. It ends when it is disposed, and with the hand or the daemon. */
export interface KeptNetns extends Disposable {
  readonly path: NetnsPath;
}

/** What SCRATCH has made. Throws when there is none. */
export function keptNetns(
  { path, outcome }: { readonly path: NetnsPath | ""; readonly outcome: Outcome },
  drop: () => void,
): KeptNetns {
  requireDone(outcome);
  return { path: path as NetnsPath, [Symbol.dispose]: drop };
}
