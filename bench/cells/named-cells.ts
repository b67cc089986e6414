import type { Bench } from "../bench.ts";
import type { Cell } from "../cell.ts";
import { shimCall } from "./shim-call.ts";
import { storm219, storm219Cpu } from "./storm-targets.ts";

/** A measurement that can be asked for by name. */
export interface NamedCell {
  readonly name: string;
  /** For `--list`. */
  readonly about: string;
  /** With peers, on two cores. */
  readonly minutes: number;
  run(bench: Bench): Promise<Cell>;
}

/** In the order in which they run. */
export const cells: readonly NamedCell[] = [
  { name: "shim", about: "one CNI call with nothing behind it", minutes: 0.5, run: shimCall },
  { name: "storm219", about: "219 pods at once, 50Mi; six critical ones 2 s in", minutes: 7, run: storm219 },
  { name: "storm219cpu", about: "the same with 100m CPU as well", minutes: 7, run: storm219Cpu },
];
