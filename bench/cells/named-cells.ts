import type { Bench } from "../bench.ts";
import type { Cell } from "../cell.ts";
import { nodeStorm } from "../node/node-storm.ts";
import { delete219 } from "./delete219.ts";
import { hang } from "./hang.ts";
import { idle } from "./idle.ts";
import { kill2s } from "./kill2s.ts";
import { outage } from "./outage.ts";
import { sequential } from "./sequential.ts";
import { shimCall } from "./shim-call.ts";
import { sim } from "./sim.ts";
import { slowSync, storm2000, storm219, storm900, storm219Cpu, storm256, storm256Cpu } from "./storm-targets.ts";
import { strangers } from "./strangers.ts";

/** A measurement with a name for the command line. */
export interface NamedCell {
  readonly name: string;
  /** For `--list`. */
  readonly about: string;
  /** With peers, on two cores. */
  readonly minutes: number;
  run(bench: Bench): Promise<Cell>;
}

/** In the order of a run. */
export const cells: readonly NamedCell[] = [
  { name: "shim", about: "one CNI call with nothing behind it", minutes: 0.5, run: shimCall },
  { name: "sequential", about: "60 pods one after another", minutes: 1, run: sequential },
  { name: "idle", about: "memory of an idle daemon that knows 250 pods and 50 networks", minutes: 1.5, run: idle },
  { name: "storm219", about: "219 pods at once, 50Mi; six critical ones 2 s in", minutes: 7, run: storm219 },
  { name: "storm219cpu", about: "the same with 100m CPU as well", minutes: 7.3, run: storm219Cpu },
  { name: "storm256", about: "the same with 256Mi", minutes: 2.5, run: storm256 },
  { name: "storm256cpu", about: "the same with 256Mi and 100m CPU", minutes: 6.5, run: storm256Cpu },
  { name: "slowsync", about: "219 pods at 50Mi with 5 ms added to every sync", minutes: 0.5, run: slowSync },
  { name: "kill2s", about: "219 pods while the daemon is killed after 0.5 s, then every 2 s", minutes: 1, run: kill2s },
  { name: "delete219", about: "219 pods deleted at once", minutes: 0.7, run: delete219 },
  { name: "strangers", about: "deletes of sandboxes never added or half added", minutes: 0.7, run: strangers },
  { name: "hang", about: "half of the pods on a network that hangs for ever", minutes: 2.5, run: hang },
  { name: "outage", about: "the primary network's plugin fails for 60 s", minutes: 1.7, run: outage },
  { name: "sim", about: "storms for real and in the simulator, whose model is fitted first", minutes: 32, run: sim },
  {
    name: "node",
    about: "219 pods on a real node with kubelet and containerd, three times",
    minutes: 21,
    run: nodeStorm,
  },
  { name: "storm900", about: "900 pods at once, 50Mi; with built-ins on and off", minutes: 4, run: storm900 },
  { name: "storm2000", about: "2,000 pods at once, 50Mi; with built-ins on and off", minutes: 8, run: storm2000 },
];
