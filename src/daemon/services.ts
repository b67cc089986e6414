import { startConfDir } from "./conf-dir-service.ts";
import { startStatusRepair } from "./kube-status-repair.ts";
import { startNodeHealth } from "./node-health.ts";
import { startNodeWatch } from "./node-watch.ts";
import { startOwnLoad } from "./own-load.ts";
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
