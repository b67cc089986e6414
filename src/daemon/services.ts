import { startConfDir } from "./conf-dir/start-conf-dir.ts";
import { startStatusRepair } from "./tell/kube-status-repair.ts";
import { startNodeHealth } from "./health/node-health.ts";
import { startNodeWatch } from "./health/node-watch.ts";
import { startOwnLoad } from "./health/own-load.ts";
import type { ServiceOptions } from "./service-options.ts";
import type { Service } from "./service.ts";

/** Starts every part that works beside the calls, in this order. */
export async function startServices(options: ServiceOptions): Promise<readonly Service[]> {
  return [
    startNodeHealth(options),
    startOwnLoad(options.ports),
    options.ports.selfGc.start(),
    startStatusRepair(options.ports),
    ...(await startConfDir(options)),
    startNodeWatch(options),
  ];
}
