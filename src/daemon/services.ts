import { startNodeHealth } from "./node-health.ts";
import type { ServiceOptions } from "./service-options.ts";
import type { Service } from "./service.ts";

/** Starts every part that works beside the calls, in this order. */
export function startServices(options: ServiceOptions): Promise<readonly Service[]> {
  return Promise.resolve([startNodeHealth(options)]);
}
