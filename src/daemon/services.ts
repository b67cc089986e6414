import { startConfDir } from "./conf-dir-service.ts";
import { startNodeHealth } from "./node-health.ts";
import type { ServiceOptions } from "./service-options.ts";
import type { Service } from "./service.ts";

/** Starts every part that works beside the calls, in this order. */
export async function startServices(options: ServiceOptions): Promise<readonly Service[]> {
  return [startNodeHealth(options), ...(await startConfDir(options))];
}
