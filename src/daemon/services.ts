import type { NodeFacts } from "./node-facts.ts";
import type { Ports } from "./ports.ts";
import type { Service } from "./service.ts";
import type { Source } from "./source.ts";

export interface ServiceOptions {
  readonly ports: Ports;
  readonly source: Source;
  /** What can be told about this node. */
  readonly reception: NodeFacts;
}

/** Starts every part that works beside the calls, in this order. */
export function startServices(_options: ServiceOptions): Promise<readonly Service[]> {
  return Promise.resolve([]);
}
